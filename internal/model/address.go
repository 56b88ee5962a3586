// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import "net/netip"

// metadata are the addresses of cloud metadata services outside the link-local range.
var metadata = [...]netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // AWS over IPv6
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("168.63.129.16"),   // Azure
}

// IsLocalAddress tells whether an address is one that a tenant must not reach through the proxy: the proxy's own host, its link, or the cloud's
// metadata service.
func IsLocalAddress(a netip.Addr) bool {
	a = a.Unmap()
	if a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return true
	}
	for _, m := range metadata {
		if a == m {
			return true
		}
	}
	return a.Is4() && a.As4()[0] == 0 // "this host", RFC 1122
}
