// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// start begins a session for so many datagrams of a party. It gives nil, having counted why, when there is none.
func (l *lane) start(p party, datagrams int) *session {
	e := l.targets.next(netip.AddrPort{})
	if e == nil {
		l.own.Homeless++
		l.own.Lost += uint64(datagrams)
		l.tellHomeless(&p)
		return nil
	}
	if !l.admit() {
		l.own.Refused++
		l.own.Lost += uint64(datagrams)
		return nil
	}
	s := l.blank()
	s.party = p
	if l.targets.Proxy {
		s.header = l.proxyHeader(&p)
	}
	l.sessions[p] = s
	s.begun, s.last = l.now, l.now
	l.order.append(s)
	l.own.Begun++
	l.due = min(l.due, l.now+l.timeout())
	if !l.connect(s, e) {
		l.own.Lost += uint64(datagrams)
		l.end(s, Unreachable)
		return nil
	}
	return s
}

// admit counts a session if the port may have one more, for which another may have to go.
func (l *lane) admit() bool {
	if l.site.retires.Load() {
		return false
	}
	l.site.sessions.Add(1)
	if n := l.port.counters.sessions.Add(1); l.targets.Limit == 0 || n <= int64(l.targets.Limit) {
		return true
	}
	if s := l.order.oldest; s != nil && l.now-s.last >= silentEnough {
		l.end(s, Evicted)
		return true
	}
	l.site.over()
	l.port.askForRoom()
	return false
}

// makeRoom ends a session if another lane asked for that and one was silent for long enough.
func (l *lane) makeRoom() {
	if s := l.order.oldest; s != nil && l.now-s.last >= silentEnough && l.port.roomWanted.CompareAndSwap(true, false) {
		l.end(s, Evicted)
	}
}

// blank gives a session that nothing is known of.
func (l *lane) blank() *session {
	n := len(l.spare)
	if n == 0 {
		return &session{fd: -1}
	}
	s := l.spare[n-1]
	l.spare = l.spare[:n-1]
	*s = session{fd: -1, unanswered: s.unanswered[:0]}
	return s
}

// connect opens the session's socket to an endpoint, or to another one if the way there is refused.
func (l *lane) connect(s *session, e *endpoint) bool {
	s.tried++
	fd, err := dial(&e.address)
	if err == nil {
		if err = l.poller.add(fd); err != nil {
			_ = unix.Close(fd)
		}
	}
	if err != nil {
		l.port.complain("UDP session cannot begin", e.name, err)
		s.endpoint = e.name
		return isRefusal(err) && l.redirect(s)
	}
	s.fd, s.endpoint, s.leaves = fd, e.name, 0
	l.sockets[int32(fd)] = s
	return true
}

// redirect gives a session whose endpoint has refused another one, if there is one that the datagram in hand may go to.
func (l *lane) redirect(s *session) bool {
	l.own.Refusals++
	l.targets.avoid(s.endpoint)
	if l.targets.Ended != nil {
		s.failed = append(s.failed, s.endpoint)
	}
	if !l.targets.mayRetry(s.tried) {
		return false
	}
	e := l.targets.next(s.endpoint)
	if e == nil {
		return false
	}
	l.own.Retried++
	l.disconnect(s)
	return l.connect(s, e)
}

func (l *lane) disconnect(s *session) {
	if s.fd >= 0 {
		delete(l.sockets, int32(s.fd))
		_ = unix.Close(s.fd)
		s.fd = -1
	}
}

// end ends a session. What its endpoint sends from now on is refused.
func (l *lane) end(s *session, how Outcome) {
	switch how {
	case Done:
		l.own.Done++
	case Idle:
		l.own.Idle++
	case Drained:
		l.own.Drained++
	case Unreachable:
		l.own.Unreachable++
	case Evicted:
		l.own.Evicted++
	}
	if l.targets.Ended != nil {
		l.tell(s, how)
	}
	l.disconnect(s)
	delete(l.sessions, s.party)
	l.order.remove(s)
	l.site.over()
	if len(l.spare) < spareSessions {
		l.spare = append(l.spare, s)
	}
}
