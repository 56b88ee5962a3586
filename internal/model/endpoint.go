// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"net/netip"
)

// Endpoint is one address that serves a backend.
type Endpoint struct {
	netip.AddrPort
	// Weight is the endpoint's share beside the other ones' weights; 0 counts as 1.
	Weight int
	// Far ones are in other zones: they are used only when no near one is usable. Not all endpoints of a backend are far.
	Far bool
}

// NewEndpoint gives the endpoint of an address, with a weight like any other.
func NewEndpoint(address netip.AddrPort) Endpoint { return Endpoint{AddrPort: address, Weight: 1} }

// Describe gives "address:port", and "*weight" behind it where that is not 1, and "(far)". String, that of AddrPort, is what one connects to.
func (e Endpoint) Describe() string {
	text := e.AddrPort.String()
	if e.Weight > 1 {
		text = fmt.Sprintf("%s*%d", text, e.Weight)
	}
	if e.Far {
		text += "(far)"
	}
	return text
}

// Compare orders endpoints by address and port.
func (e Endpoint) Compare(other Endpoint) int { return e.AddrPort.Compare(other.AddrPort) }
