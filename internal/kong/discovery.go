// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"net"
	"net/url"
)

// Endpoint is where one gateway's Admin API is.
type Endpoint struct {
	URL string
	// ServerName is what its certificate must be for; empty for the host of the URL.
	ServerName string
}

// Discovery knows the gateways.
type Discovery interface {
	// Endpoints lists them as of now, sorted by URL. The list is not changed by either side.
	Endpoints() []Endpoint
	// Changed sends a value when the list has changed; nil when it never does.
	Changed() <-chan struct{}
}

// Fixed is a list of gateways that does not change.
type Fixed []Endpoint

// Endpoints gives the list.
func (f Fixed) Endpoints() []Endpoint { return f }

// Changed gives nil.
func (f Fixed) Changed() <-chan struct{} { return nil }

// Local tells whether all gateways are on this machine, or in this pod.
func (f Fixed) Local() bool {
	for _, e := range f {
		u, err := url.Parse(e.URL)
		if err != nil {
			return false
		}
		ip := net.ParseIP(u.Hostname())
		if u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return len(f) > 0
}
