// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"net/netip"
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var acl = Group{
	Name: "acl", finish: finishACL,
	Doc: "Lets in or keeps out client addresses. Redirects, CORS preflights and rate limits come before. A list replaces that of the setting, and a list that is " +
		"empty or has an item that is no network closes the route.",
	Keys: []Key{
		Parsed("allowlist-source-range", networks, Spec{
			Scope: Route, Risk: Medium, Default: "none, every address", Setting: "whitelist-source-range", Example: "10.0.0.0/8,2001:db8::/32",
			Alias: "whitelist-source-range", Closes: true,
			Doc:    "Clients with another address are answered with 403.",
			Source: "ngx_http_access_module, done in Lua",
		}, value.Networks, func(e *Effect, v []netip.Prefix) { e.access().Allow = v }),

		Parsed("denylist-source-range", networks, Spec{
			Scope: Route, Risk: Medium, Default: "none, no address", Setting: "denylist-source-range", Example: "192.0.2.0/24",
			Closes: true,
			Doc:    "Clients with such an address are answered with 403, also those in allowlist-source-range.",
			Source: "ngx_http_access_module, done in Lua",
		}, value.Networks, func(e *Effect, v []netip.Prefix) { e.access().Deny = v }),
	},
}

const networks = "addresses and networks"

// access gives a part of the policy that only the effect holds, to be changed.
func (e *Effect) access() *model.Access {
	own := &model.Access{}
	if shared := e.Policy.Access; shared != nil {
		*own = *shared
	}
	e.Policy.Access = own
	return own
}

// finishACL closes the routes of lists that were left empty: nobody can tell whether everybody or nobody was meant.
func finishACL(p *parser) {
	if p.effect.Canary {
		return
	}
	for _, spellings := range [][]string{{"allowlist-source-range", "whitelist-source-range"}, {"denylist-source-range"}} {
		if slices.ContainsFunc(spellings, p.has) {
			continue
		}
		for _, name := range spellings {
			if _, given := p.given[name]; given {
				p.close(name, model.ReasonInvalidAnnotation, "is an empty list")
			}
		}
	}
}
