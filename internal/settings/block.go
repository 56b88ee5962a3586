// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"net/netip"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var block = Group{
	Name: "block",
	Doc: "Clients that are answered with 403 on every host, before anything else. A list that does not parse closes every route. An item of a list of texts is " +
		"the whole text, whatever its case, or ~ and an expression that is searched for, ~* for one whatever the case.",
	Keys: []Key{
		Parsed("block-cidrs", "addresses and networks", Spec{
			Default: none, Example: "192.0.2.0/24", Closes: true,
			Differs: "It counts on every route; there not on those with a list of their own.",
			Doc:     "Clients with such an address, also on routes with lists of their own.",
		}, parseClosedNetworks, func(d *draft, v []netip.Prefix) { d.Blocked.Networks = v }),

		Parsed("block-referers", "texts or expressions with commas between", Spec{
			Default: none, Example: "~*spam\\.example", Closes: true,
			Doc: "Requests with such a Referer.",
		}, parseMatches, func(d *draft, v []model.TextMatch) { d.Blocked.Refers = v }),

		Parsed("block-user-agents", "texts or expressions with commas between", Spec{
			Default: none, Example: "~*badbot", Closes: true,
			Doc: "Requests with such a User-Agent.",
		}, parseMatches, func(d *draft, v []model.TextMatch) { d.Blocked.UserAgents = v }),
	},
}

// parseClosedNetworks passes over empty items, but over nothing else.
func parseClosedNetworks(text string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, word := range parseList(text) {
		network, err := value.Networks(word)
		if err != nil {
			return nil, err
		}
		list = append(list, network...)
	}
	return list, nil
}
