// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import "github.com/fairway-ingress/fairway/internal/model"

// settlePassthrough says where connections over TLS go when the Ingress that has the path "/" leaves TLS to its backend. Nobody else can ask for it,
// as it takes the whole host out of the hands of those who have its other paths and its certificate.
func (h *hostBuild) settlePassthrough(host *model.Host) {
	for _, main := range h.in.mains {
		if !main.effect.Host.Passthrough {
			continue
		}
		report := func(message string, args ...any) {
			h.problem(main.ref, "metadata.annotations["+main.prefix+"/ssl-passthrough]", model.ReasonUnsupported, message, args...)
		}
		root := h.root()
		switch {
		case !h.settings.Passthrough:
			report("has no effect without the flag --enable-ssl-passthrough: TLS ends here")
		case h.name == model.CatchAll:
			report("has no effect on rules without a host, as connections are told apart by its name: TLS ends here")
		case root == nil || root.host != main:
			report("has no effect on %s, whose path / is not of this Ingress: TLS ends here", h.name)
		case root.route.Closed != "" || root.backend.IsZero():
			host.Passthrough = &model.Passthrough{}
			report("leads nowhere, as the path / of %s has no Service or is closed; connections over TLS are closed", h.name)
		default:
			host.Passthrough = &model.Passthrough{Backend: root.backend}
		}
	}
}

// root gives the location of the path "/", a declared one if there is any, or nil.
func (h *hostBuild) root() *location {
	prefix, exact := h.owned[pathKey{false, "/"}], h.owned[pathKey{true, "/"}]
	if exact != nil && (prefix == nil || prefix.implicit) {
		return exact
	}
	return prefix
}
