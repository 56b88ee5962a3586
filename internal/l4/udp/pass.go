// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"

	"golang.org/x/sys/unix"
)

// takeFromClients sends on a batch of what clients have sent.
func (l *lane) takeFromClients() {
	in := l.room.clients
	n, err := in.receive(l.fd, 0, true)
	if err != nil || n == 0 {
		return // somebody else's news: nothing there to read, or an ICMP message about an answer
	}
	p := l.party(in, 0)
	for first, next := 0, 1; first < n; next++ { // datagrams of one session are sent on together
		var other party
		if next < n {
			if other = l.party(in, next); other == p && l.targets.Responses != 0 {
				continue
			}
		}
		l.forward(p, first, next)
		first, p = next, other
	}
}

func (l *lane) party(in *batch, i int) party {
	p := party{client: in.names[i]}
	if l.wildcard {
		p.local = in.local(i)
	}
	return p
}

// forward sends the datagrams of clients in the places from one to another, which are of one party, to the endpoint of its session.
func (l *lane) forward(p party, from, to int) {
	s := l.sessions[p]
	if s == nil {
		if s = l.start(p, to-from); s == nil {
			return
		}
	} else {
		l.order.touch(s, l.now)
		s.tried = 1
	}
	in, out := l.room.clients, &l.room.outbox
	s.requests += to - from
	if s.answers == 0 && len(l.targets.members) > 1 {
		s.keep(in.datagram(to - 1))
	}
	l.own.Received.Datagrams += uint64(to - from)
	for i := from; i < to; i++ {
		l.own.Received.Bytes += uint64(in.messages[i].length)
		s.received += uint64(in.messages[i].length)
		out.put(i, s.header, in.datagram(i))
	}
	switch {
	case !l.send(s, out.messages[from:to]):
		l.end(s, Unreachable)
	case l.targets.over(s):
		l.end(s, Done)
	}
}

// send sends to the session's endpoint, or to another one if that refuses. It tells whether the session may go on.
func (l *lane) send(s *session, messages []message) bool {
	for len(messages) > 0 {
		n, err := send(s.fd, messages)
		messages = messages[n:]
		switch {
		case err == nil:
		case !isRefusal(err): // too long for the way, no memory for it: the datagram's own trouble
			l.own.Lost++
			messages = messages[1:]
		case !l.redirect(s):
			l.own.Lost += uint64(len(messages))
			return false
		}
	}
	return true
}

// isRefusal tells whether an error says that the endpoint, or the way to it, does not want what is sent there.
func isRefusal(err error) bool {
	for _, refusal := range [...]unix.Errno{unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN, unix.EPERM, unix.EACCES} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// takeFromEndpoint takes what an endpoint has sent. It leaves with flush.
func (l *lane) takeFromEndpoint(s *session) {
	out := l.room.answers
	if out.used == batchSize {
		l.flush()
	}
	n, err := out.receive(s.fd, out.used, false)
	if err != nil {
		if isRefusal(err) && !l.resend(s) {
			l.own.Lost++
			l.end(s, Unreachable)
		}
		return
	}
	for i := out.used; i < out.used+n; i++ {
		s.sent += uint64(out.messages[i].length)
		out.address(i, &s.party.client, s.party.local)
	}
	out.used += n
	if s.answers == 0 {
		s.answered = l.now
	}
	s.answers += n
	s.unanswered = s.unanswered[:0]
	l.order.touch(s, l.now)
	if l.targets.over(s) {
		l.end(s, Done)
	}
}

// resend sends what nobody has answered to another endpoint, after one has refused it. It tells whether the session may go on.
func (l *lane) resend(s *session) bool {
	if len(s.unanswered) == 0 {
		l.own.Refusals++
		l.targets.avoid(s.endpoint)
		return false
	}
	if !l.redirect(s) {
		return false
	}
	out := &l.room.outbox
	out.put(0, s.header, s.unanswered)
	return l.send(s, out.messages[:1])
}

// flush sends answers to clients.
func (l *lane) flush() {
	out := l.room.answers
	for rest := out.messages[:out.used]; len(rest) > 0; {
		n, err := send(l.fd, rest)
		for _, m := range rest[:n] {
			l.own.Sent.Bytes += uint64(m.length)
		}
		l.own.Sent.Datagrams += uint64(n)
		if rest = rest[n:]; err != nil { // about the first of the rest
			l.own.Lost++
			rest = rest[1:]
		}
	}
	out.used = 0
}
