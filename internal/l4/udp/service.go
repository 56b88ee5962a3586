// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"cmp"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// Service says what becomes of the datagrams of a port.
type Service struct {
	// Endpoints take turns, a session at a time, one of twice the weight of another twice as often. Without any, datagrams are dropped.
	Endpoints []Endpoint
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
	// new one, if it was for a second at least; else the new one is not begun. 0 is no limit.
	Limit int
	// Ended is told of each session that is over, and of those that could not begin for want of an endpoint; nil for nobody. Lanes call it, each
	// for its own sessions, and wait for it.
	Ended func(Ended)
	// Proxy puts a header of the PROXY protocol, version 2, before each datagram to an endpoint.
	Proxy bool
}

// Ended is a session that is over.
type Ended struct {
	Outcome Outcome
	// Client is who it was with, and Local the address of ours.
	Client, Local netip.AddrPort
	// Endpoint had it last, and Failed those that refused it; either may be missing.
	Endpoint netip.AddrPort
	Failed   []netip.AddrPort
	// Received are the bytes of the client, Sent those of endpoints.
	Received, Sent uint64
	Took           time.Duration
	// FirstAnswer is when it had one, from its beginning; less than 0 if it never had.
	FirstAnswer time.Duration
}

// Outcome is how a session ended; see Counts.
type Outcome uint8

// The outcomes. Closed sessions had to go with the port.
const (
	Closed Outcome = iota
	Done
	Idle
	Drained
	Unreachable
	Evicted
	Homeless
)

// Endpoint is where datagrams go. A weight of 0 counts as 1.
type Endpoint struct {
	netip.AddrPort
	Weight int
	// Rank says when it gets sessions: one of a greater rank does when all of a smaller one have refused datagrams lately, or the session's own.
	Rank int
}

// silentEnough is how long a session must have been silent to be ended for another.
const silentEnough = time.Second

// targets is a Service as lanes use it. Its fields never change.
type targets struct {
	Service
	members  map[netip.AddrPort]*endpoint
	ranks    [][]*endpoint  // of each rank, a round of turns
	position *atomic.Uint32 // of the turn that was last
}

// endpoint is where a session's socket is connected to.
type endpoint struct {
	name    netip.AddrPort
	address address
	// avoided is when it refused something last, in nanoseconds since 1970.
	avoided atomic.Int64
}

// avoidFor is how long an endpoint that refused a datagram gets no session while there are others.
const avoidFor = 10 * time.Second

// newTargets gives the targets of a service. What is known of endpoints that the last ones had, too, is kept; last may be nil.
func newTargets(s Service, last *targets) *targets {
	t := &targets{Service: s, members: make(map[netip.AddrPort]*endpoint, len(s.Endpoints)), position: &atomic.Uint32{}}
	if last != nil {
		t.position = last.position
	}
	for _, one := range s.Endpoints {
		name := one.AddrPort
		e := &endpoint{name: name, address: addressOf(name)}
		if last != nil && last.members[name] != nil {
			e = last.members[name]
		}
		t.members[name] = e
	}
	for list := slices.Clone(s.Endpoints); len(list) > 0; {
		best := slices.MinFunc(list, func(a, b Endpoint) int { return cmp.Compare(a.Rank, b.Rank) }).Rank
		var rank []Endpoint
		list = slices.DeleteFunc(list, func(e Endpoint) bool {
			if e.Rank == best {
				rank = append(rank, e)
			}
			return e.Rank == best
		})
		var round []*endpoint
		for _, i := range turns(rank) {
			round = append(round, t.members[rank[i].AddrPort])
		}
		t.ranks = append(t.ranks, round)
	}
	return t
}

// next gives the endpoint whose turn it is, but for those that are avoided and the one to leave out; nil when there is none.
func (t *targets) next(except netip.AddrPort) (chosen *endpoint) {
	for _, round := range t.ranks {
		n := uint32(len(round))
		for range n {
			e := round[t.position.Add(1)%n]
			if e.name == except {
				continue
			}
			if !e.isAvoided() {
				return e
			}
			if chosen == nil {
				chosen = e
			}
		}
	}
	return chosen
}

func (e *endpoint) isAvoided() bool {
	at := e.avoided.Load()
	return at != 0 && time.Now().UnixNano()-at < int64(avoidFor)
}

// avoid says that an endpoint has refused a datagram.
func (t *targets) avoid(name netip.AddrPort) {
	if e := t.members[name]; e != nil {
		e.avoided.Store(time.Now().UnixNano())
	}
}

// mayRetry tells whether a datagram that was sent to so many endpoints may go to another.
func (t *targets) mayRetry(tried int) bool {
	return tried < len(t.members) && (t.Tries == 0 || tried < t.Tries)
}

// over tells whether a session has got all that was due.
func (t *targets) over(s *session) bool {
	return t.Responses >= 0 && s.answers >= t.Responses*s.requests
}
