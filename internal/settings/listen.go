// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

var listen = Group{
	Name: "listen", Doc: "Where clients come in. A change of addresses takes reuse-port, as nginx opens the new ones while the old are still there.",
	Keys: []Key{
		Parsed("bind-address", "addresses with commas between", Spec{
			Default: none, Example: "127.0.0.2", Reload: true,
			Doc: "The addresses to listen on instead of those of --bind-address. IPv4 addresses alone leave IPv6 as it is, and the other way round. " +
				"What is no address is left out, with a Problem.",
		}, parseAddresses, func(d *draft, v []netip.Addr) { d.bind.both = v }),

		Parsed("bind-address-ipv4", "IPv4 address", Spec{
			Default: none, Example: "127.0.0.3", Reload: true,
			Doc: "The one IPv4 address to listen on, instead of those of bind-address.",
		}, parseAddress(4), func(d *draft, v netip.Addr) { d.bind.v4 = []netip.Addr{v} }),

		Parsed("bind-address-ipv6", "IPv6 address", Spec{
			Default: none, Example: "[::1]", Reload: true,
			Doc: "The one IPv6 address to listen on, instead of those of bind-address. It may stand in brackets.",
		}, parseAddress(6), func(d *draft, v netip.Addr) { d.bind.v6 = []netip.Addr{v} }),

		Bool("disable-ipv6", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Does not listen on IPv6.",
		}, func(d *draft, v bool) { d.Listen.NoIPv6 = v }),

		Bool("reuse-port", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Gives each worker a listening socket of its own (SO_REUSEPORT).",
		}, func(d *draft, v bool) { d.Listen.ReusePort = v }),
	},
}

// bind is what the keys for addresses say together.
type bind struct{ both, v4, v6 []netip.Addr }

func (d *draft) finishListen() {
	d.Listen.IPv4, d.Listen.IPv6 = d.bind.v4, d.bind.v6
	for _, a := range d.bind.both {
		switch {
		case a.Is4() && d.bind.v4 == nil:
			d.Listen.IPv4 = append(d.Listen.IPv4, a)
		case a.Is6() && d.bind.v6 == nil:
			d.Listen.IPv6 = append(d.Listen.IPv6, a)
		}
	}
}

// parseAddresses reads addresses. One slip must not open all addresses again, so the others count.
func parseAddresses(text string) ([]netip.Addr, error) {
	var list []netip.Addr
	var wrong []string
	for _, word := range parseList(text) {
		a, err := readAddress(word)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%.60q", word))
			continue
		}
		list = append(list, a)
	}
	switch {
	case len(list) == 0:
		return nil, errors.New("has no IP address")
	case wrong != nil:
		return list, remark("has " + strings.Join(wrong, ", ") + ", which is no IP address; the others are in force")
	}
	return list, nil
}

func parseAddress(family int) func(text string) (netip.Addr, error) {
	return func(text string) (netip.Addr, error) {
		a, err := readAddress(text)
		if err != nil || a.Is4() != (family == 4) {
			return a, fmt.Errorf("is no IPv%d address", family)
		}
		return a, nil
	}
}

func readAddress(text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(text), "[]"))
	if err == nil && a.Zone() != "" {
		err = errors.New("has a zone")
	}
	return a.Unmap(), err
}
