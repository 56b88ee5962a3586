// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"net/netip"
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var access = Group{
	Name: "access", Doc: "Who may pass. A list that does not parse closes every route.",
	Keys: []Key{
		Parsed("denylist-source-range", "addresses and networks", Spec{
			Default: none, Example: "192.0.2.0/24", Closes: true,
			Doc: "Default of the annotation: clients with such an address are answered with 403.",
		}, value.Networks, func(d *draft, v []netip.Prefix) { d.access().Deny = v }),

		Parsed("nginx-status-ipv4-whitelist", "addresses and networks", Spec{
			Default: "127.0.0.1", Example: "10.0.0.0/8",
			Doc: "Who may read /nginx_status on hosts that no rule names; others are answered with 403. Empty for nobody.",
		}, parseClosedNetworks, func(d *draft, v []netip.Prefix) { d.status.v4 = v }),

		Parsed("nginx-status-ipv6-whitelist", "addresses and networks", Spec{
			Default: "::1", Example: "2001:db8::/32",
			Doc: "The same for IPv6.",
		}, parseClosedNetworks, func(d *draft, v []netip.Prefix) { d.status.v6 = v }),

		Parsed("no-auth-locations", "list of beginnings of paths", Spec{
			Default: "/.well-known/acme-challenge", Example: "/.well-known/acme-challenge,/health",
			Doc: "Rules whose path, as written in the Ingress, begins with one of these ask neither for a login nor another server, whatever annotations say. " +
				"Empty for none.",
		}, parsePaths, func(d *draft, v []string) { d.NoAuth = v }),

		Parsed("whitelist-source-range", "addresses and networks", Spec{
			Default: none, Example: "10.0.0.0/8,2001:db8::/32", Closes: true,
			Doc: "Default of the annotation allowlist-source-range: clients with another address are answered with 403.",
		}, value.Networks, func(d *draft, v []netip.Prefix) { d.access().Allow = v }),
	},
}

// statusFrom is what the lists for /nginx_status say together.
type statusFrom struct{ v4, v6 []netip.Prefix }

func (d *draft) finishStatus() { d.StatusFrom = slices.Concat(d.status.v4, d.status.v6) }

func (d *draft) access() *model.Access {
	if d.Route.Access == nil {
		d.Route.Access = &model.Access{}
	}
	return d.Route.Access
}
