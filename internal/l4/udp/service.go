// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"net/netip"
	"sync/atomic"
	"time"
)

// Service says what becomes of the datagrams of a port.
type Service struct {
	// Endpoints take turns, a session at a time. Without any, datagrams are dropped.
	Endpoints []netip.AddrPort
	// Responses is how many datagrams an endpoint sends for one of a client. A session that has got as many as are due is over, and the client's next
	// datagram may go to another endpoint. 0 expects none, so each datagram is a session; less than that sets no number.
	Responses int
	// Timeout ends a session in which nothing was said for so long.
	Timeout time.Duration
	// Tries is to how many endpoints a datagram is sent, while they refuse it (ICMP port unreachable); 0 for all of them.
	Tries int
	// Drain is how long a session may go on whose endpoint is no longer one.
	Drain time.Duration
	// Limit is the number of sessions that the port may have at a time. When there are as many, the one that was silent for longest has to go for a
	// new one, if it was for a second at least; else the new one is not begun.
	Limit int
	// Proxy puts a header of the PROXY protocol, version 2, before each datagram to an endpoint.
	Proxy bool
}

// silentEnough is how long a session must have been silent to be ended for another.
const silentEnough = time.Second

// targets is a Service as lanes use it. It never changes, but for its position.
type targets struct {
	Service
	endpoints []endpoint
	members   map[netip.AddrPort]struct{}
	position  atomic.Uint32
}

// endpoint is where a session's socket is connected to.
type endpoint struct {
	name    netip.AddrPort
	address address
}

func newTargets(s Service) *targets {
	t := &targets{Service: s, members: make(map[netip.AddrPort]struct{}, len(s.Endpoints))}
	for _, name := range s.Endpoints {
		t.endpoints = append(t.endpoints, endpoint{name: name, address: addressOf(name)})
		t.members[name] = struct{}{}
	}
	return t
}

// next gives the endpoint whose turn it is; nil when there is none.
func (t *targets) next() *endpoint {
	n := uint32(len(t.endpoints))
	if n == 0 {
		return nil
	}
	return &t.endpoints[t.position.Add(1)%n]
}

// other gives an endpoint that is not the given one; nil when there is none.
func (t *targets) other(than netip.AddrPort) *endpoint {
	for range t.endpoints {
		if e := t.next(); e.name != than {
			return e
		}
	}
	return nil
}

// mayRetry tells whether a datagram that was sent to so many endpoints may go to another.
func (t *targets) mayRetry(tried int) bool {
	return len(t.endpoints) > 1 && tried < len(t.endpoints) && (t.Tries == 0 || tried < t.Tries)
}

// over tells whether a session has got all that was due.
func (t *targets) over(s *session) bool {
	return t.Responses >= 0 && s.answers >= t.Responses*s.requests
}
