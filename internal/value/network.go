// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Networks reads addresses and networks in CIDR form, with commas between, and gives them sorted and unique. Bits beyond the length of a network
// do not count. IPv4 written as IPv6 is IPv4, as nginx takes clients for.
func Networks(text string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for part := range strings.SplitSeq(text, ",") {
		network, err := parseNetwork(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		networks = append(networks, network)
	}
	slices.SortFunc(networks, netip.Prefix.Compare)
	return slices.Compact(networks), nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	none := fmt.Errorf("has %.50q, which is neither an address nor a network such as 10.0.0.0/8", text)
	if !strings.Contains(text, "/") {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" {
			return netip.Prefix{}, none
		}
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, none
	}
	if a := network.Addr(); a.Is4In6() && network.Bits() >= 96 {
		network = netip.PrefixFrom(a.Unmap(), network.Bits()-96)
	}
	return network.Masked(), nil
}
