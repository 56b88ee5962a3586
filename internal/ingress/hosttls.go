// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"

	"github.com/fairway-ingress/fairway/internal/model"
)

// settleTLS finds what is special about TLS with the host. Client certificates are those of the first claim that asks for any, be it one that cannot
// be built; ciphers and whose order counts may come from others.
func (h *hostBuild) settleTLS() {
	for _, main := range h.in.mains {
		e := &main.effect.Host
		if e.TLS != nil {
			h.tls.Ciphers = cmp.Or(h.tls.Ciphers, e.TLS.Ciphers)
			h.tls.PreferServer = cmp.Or(h.tls.PreferServer, e.TLS.PreferServer)
		}
		if h.tlsOwner != nil || !asksForCertificates(e.TLS) && e.Closed == "" {
			continue
		}
		h.tlsOwner, h.tlsClosed = main, e.Closed
		if e.TLS != nil {
			ciphers, prefer := h.tls.Ciphers, h.tls.PreferServer
			h.tls = *e.TLS
			h.tls.Ciphers, h.tls.PreferServer = ciphers, prefer
		}
	}
	for _, main := range h.in.mains {
		if h.overrules(main) {
			h.problem(main.ref, "metadata.annotations["+main.prefix+"/auth-tls-secret]", model.ReasonShadowed,
				"%s, which is older, decides about the client certificates of %s and does not demand as much; the routes of this Ingress for the host answer 503",
				h.tlsOwner.ref.Namespace+"/"+h.tlsOwner.ref.Name, h.name)
		}
	}
}

func asksForCertificates(t *model.HostTLS) bool { return t != nil && t.ClientCA != "" }

// overrules tells whether a claim demands certificates that the host does not. What it serves must then be closed: nobody checks who asks for it.
func (h *hostBuild) overrules(main *hostClaim) bool {
	asked := main.effect.Host.TLS
	if h.tlsOwner == nil || h.tlsOwner == main || h.tlsClosed != "" || !asksForCertificates(asked) || asked.Verify == model.VerifyOff {
		return false
	}
	strictness := map[model.Verify]int{model.VerifyOff: 0, model.VerifyOptionalNoCA: 1, model.VerifyOptional: 2, model.VerifyOn: 3}
	return h.tls.ClientCA != asked.ClientCA || asked.ClientCRL != "" && h.tls.ClientCRL != asked.ClientCRL || h.tls.Depth > asked.Depth ||
		strictness[h.tls.Verify] < strictness[asked.Verify] || asked.MatchCN != "" && h.tls.MatchCN != asked.MatchCN
}
