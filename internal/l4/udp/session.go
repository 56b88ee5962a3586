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
	failed     []netip.AddrPort // endpoints that refused, if anybody wants to know
	// received are the client's bytes and sent the endpoint's.
	received, sent uint64
	begun          time.Duration // when it began, by the lane's clock
	answered       time.Duration // when the first answer came, if answers is not 0
	last           time.Duration // when something was said last
	leaves         time.Duration // when it has to end because its endpoint is gone; 0 for never

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
	to := l.localName(p)
	header, err := proxyproto.HeaderProxyFromAddrs(2, net.UDPAddrFromAddrPort(p.client.name()), net.UDPAddrFromAddrPort(to)).Format()
	if err != nil {
		panic(fmt.Sprintf("PROXY header from %s to %s: %v", p.client.name(), to, err)) // two addresses of one family
	}
	return header
}

// localName is the address of ours that a client speaks with.
func (l *lane) localName(p *party) netip.AddrPort {
	if l.wildcard {
		return netip.AddrPortFrom(p.local.ip(p.client.family()), l.site.name.Port())
	}
	return l.site.name
}

// tell says that a session is over.
func (l *lane) tell(s *session, how Outcome) {
	e := Ended{
		Outcome: how, Client: s.party.client.name(), Local: l.localName(&s.party), Endpoint: s.endpoint, Failed: s.failed,
		Received: s.received, Sent: s.sent, Took: l.now - s.begun, FirstAnswer: -1,
	}
	if s.answers > 0 {
		e.FirstAnswer = s.answered - s.begun
	}
	last := len(e.Failed) - 1
	refused := last >= 0 && e.Failed[last] == s.endpoint
	if s.fd < 0 && !refused { // there is no way to it
		e.Failed, refused = append(e.Failed, s.endpoint), true
	}
	if refused {
		e.Endpoint = netip.AddrPort{}
	}
	l.targets.Ended(e)
}

// tellHomeless says that a session did not begin, as there was no endpoint.
func (l *lane) tellHomeless(p *party) {
	if l.targets.Ended != nil {
		l.targets.Ended(Ended{Outcome: Homeless, Client: p.client.name(), Local: l.localName(p), FirstAnswer: -1})
	}
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
