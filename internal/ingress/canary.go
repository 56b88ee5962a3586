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
			case l.backend.SamePort(c.backend):
				h.problem(host.ref, c.field, model.ReasonUnmatchedCanary,
					"the canary names the same Service and port as the route of %s; this path of the canary takes no request", l.name())
			default:
				l.canaries = append(l.canaries, c)
			}
		}
	}
}

// newCanary gives the canary of a route that balances as main says. It takes part in the route's affinity unless it declines.
func newCanary(c *pathClaim, main *model.Balance) model.Canary {
	effect := c.host.effect
	canary := effect.CanaryRule
	canary.Owner, canary.Backend, canary.Balance = c.host.ref, c.backend, effect.Policy.Balance
	if main == nil || main.Affinity == nil || effect.NoAffinity {
		return canary
	}
	own := model.Balance{Affinity: main.Affinity}
	if b := effect.Policy.Balance; b != nil {
		own.Algorithm, own.HashBy, own.Subset, own.SlowStart = b.Algorithm, b.HashBy, b.Subset, b.SlowStart
	}
	canary.Balance = &own
	return canary
}
