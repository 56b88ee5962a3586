// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/pires/go-proxyproto"
)

// party is who takes part in a session on this side: a client and the address of ours that it speaks with.
type party struct {
	client address
	local  local
}

// session is what is known of one.
type session struct {
	party    party
	fd       int // connected to the endpoint
	endpoint netip.AddrPort
	header   []byte // before each datagram to the endpoint
	// requests are the client's datagrams and answers the endpoint's.
	requests, answers int
	// unanswered is the last datagram, if no endpoint has answered yet and another one may get it; tried is how many got it.
	unanswered []byte
	tried      int
	last       time.Duration // when something was said last, by the lane's clock
	leaves     time.Duration // when it has to end because its endpoint is gone; 0 for never

	older, newer *session // by last
}

// keptLength is the longest datagram that is kept until somebody has answered.
const keptLength = 4 << 10

// keep remembers a datagram for another endpoint.
func (s *session) keep(datagram []byte) {
	s.unanswered = s.unanswered[:0]
	if len(datagram) <= keptLength {
		s.unanswered = append(s.unanswered, datagram...)
	}
}

// proxyHeader is what tells endpoints who the client is.
func (l *lane) proxyHeader(p *party) []byte {
	to := l.site.name
	if l.wildcard {
		to = netip.AddrPortFrom(p.local.ip(p.client.family()), to.Port())
	}
	header, err := proxyproto.HeaderProxyFromAddrs(2, net.UDPAddrFromAddrPort(p.client.name()), net.UDPAddrFromAddrPort(to)).Format()
	if err != nil {
		panic(fmt.Sprintf("PROXY header from %s to %s: %v", p.client.name(), to, err)) // two addresses of one family
	}
	return header
}

// order is a list of sessions from the one that was silent for longest to the one that spoke last.
type order struct{ oldest, newest *session }

// append puts a session at the end; it must not be in the list.
func (o *order) append(s *session) {
	s.older, s.newer = o.newest, nil
	if o.newest == nil {
		o.oldest = s
	} else {
		o.newest.newer = s
	}
	o.newest = s
}

func (o *order) remove(s *session) {
	if s.older == nil {
		o.oldest = s.newer
	} else {
		s.older.newer = s.newer
	}
	if s.newer == nil {
		o.newest = s.older
	} else {
		s.newer.older = s.older
	}
	s.older, s.newer = nil, nil
}

// touch says that a session spoke.
func (o *order) touch(s *session, now time.Duration) {
	s.last = now
	if o.newest != s {
		o.remove(s)
		o.append(s)
	}
}
