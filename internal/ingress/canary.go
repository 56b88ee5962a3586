// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import "github.com/fairway-ingress/fairway/internal/model"

// shareCanaries attaches each path of a canary to the location of the same path and type.
func (h *hostBuild) shareCanaries() {
	for _, host := range h.in.canaries {
		for _, c := range host.paths {
			l := h.owned[c.key()]
			switch {
			case host.effect.CanaryClosed != "":
			case l == nil || l.backend.IsZero():
				h.problem(host.ref, c.field, model.ReasonUnmatchedCanary,
					"no other Ingress has the host %s with the path %s of this path type; this path of the canary takes no request", h.name, c.path)
			case l.backend == c.backend:
				h.problem(host.ref, c.field, model.ReasonUnmatchedCanary,
					"the canary names the same Service and port as the route of %s; this path of the canary takes no request", l.name())
			default:
				l.canaries = append(l.canaries, c)
			}
		}
	}
}

func newCanary(c *pathClaim) model.Canary {
	canary := c.host.effect.CanaryRule
	canary.Owner, canary.Backend, canary.Balance = c.host.ref, c.backend, c.host.effect.Policy.Balance
	return canary
}
