// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"net/netip"

	"github.com/fairway-ingress/fairway/internal/model"
)

// applyControls is about who may pass. What open-source Kong cannot do closes the route.
func (t *translation) applyControls(r *route, p *model.Policy) {
	for _, c := range []struct {
		asked bool
		what  string
	}{
		{p.Login != nil, "a login by a Secret of users, whose passwords are hashed; KongConsumers with credentials of basic-auth replace it"},
		{p.ExternalAuth != nil, "external authentication"},
		{p.WAF != nil, "ModSecurity"},
		{p.Snippet != "", "raw nginx configuration"},
		{p.AnyAccess && p.Access != nil, "satisfy any"},
	} {
		if c.asked {
			t.refuse(r, c.what)
		}
	}
	if a := p.Access; a != nil && r.closed == "" {
		config := map[string]any{}
		if len(a.Allow) > 0 {
			config["allow"] = prefixes(a.Allow)
		}
		if len(a.Deny) > 0 {
			config["deny"] = prefixes(a.Deny)
		}
		if len(config) > 0 {
			t.control(r, "ip-restriction", config)
		}
	}
	if l := p.RateLimit; l != nil {
		t.limit(r, l)
	}
}

// refuse closes a route for a control that Kong does not have.
func (t *translation) refuse(r *route, what string) {
	t.unsupported(r, what, "the routes answer 503, as it is to keep somebody out")
	r.closed = firstOf(r.closed, "Kong has nothing for "+what)
}

func prefixes(list []netip.Prefix) []any {
	out := make([]any, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return out
}

// usualBurst is the annotations' default, as many times the rate.
const usualBurst = 5

// limit bounds requests. Kong counts in windows and has no bursts.
func (t *translation) limit(r *route, l *model.RateLimit) {
	if l.Connections > 0 {
		t.unsupported(r, "a limit of requests at once", "")
	}
	if len(l.Exempt) > 0 {
		t.unsupported(r, "exempting clients from a rate limit", "they are limited as well")
	}
	if l.SecondBurst != usualBurst*l.PerSecond || l.MinuteBurst != usualBurst*l.PerMinute {
		t.unsupported(r, "bursts of a rate limit", "there are none")
	}
	config := map[string]any{"policy": "local", "limit_by": "ip"}
	if l.PerSecond > 0 {
		config["second"] = l.PerSecond
	}
	if l.PerMinute > 0 {
		config["minute"] = l.PerMinute
	}
	if len(config) > 2 {
		t.plugin(r, "rate-limiting", config)
	}
}

// applyHost is about what was asked for the host as a whole.
func (t *translation) applyHost(r *route) {
	h := r.source.Site
	if h == nil {
		return
	}
	if h.Closed != "" {
		r.closed = firstOf(r.closed, h.Closed)
	}
	if h.TLS != nil && (h.TLS.ClientCA != "" || h.TLS.MatchCN != "") {
		t.refuse(r, "client certificates")
	}
	if h.Snippet != "" {
		t.refuse(r, "raw nginx configuration of a host")
	}
	for _, c := range []struct {
		asked bool
		what  string
	}{
		{h.TLS != nil && (h.TLS.Ciphers != "" || h.TLS.PreferServer != nil), "ciphers of a host"},
		{len(h.Patterns) > 0, "expressions as aliases of a host"},
		{h.Passthrough != nil, "TLS passthrough by annotation; a TCPIngress with konghq.com/protocols: tls_passthrough replaces it"},
	} {
		if c.asked {
			t.unsupported(r, c.what, "")
		}
	}
}
