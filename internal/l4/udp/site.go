// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"net/netip"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// mostLanes is how many processors one address of a port can use.
const mostLanes = 8

// site is an address that a port listens at, or did until its last session there is over. The kernel chooses the lane for a client by the number of
// sockets, too, so lanes come and go together, and only while there is no session. The mutex of the port guards lanes.
type site struct {
	port  *Port
	asked netip.AddrPort // where the port was told to listen
	name  netip.AddrPort // the same, with the port that the kernel chose if that was 0
	// number is how many lanes it has, unless some of them are gone already. It stays, as sessions would change lanes with it.
	number int
	lanes  []*lane
	// retires says that no session may begin.
	retires  atomic.Bool
	sessions atomic.Int64
}

func newSite(p *Port, at netip.AddrPort) *site {
	return &site{port: p, asked: at, name: at, number: min(runtime.GOMAXPROCS(0), mostLanes)}
}

// isAt tells whether it is what a port is told to listen at.
func (s *site) isAt(address netip.AddrPort) bool { return s.asked == address || s.name == address }

// open completes the lanes.
func (s *site) open() error {
	for len(s.lanes) < s.number {
		fd, err := listen(s.name, len(s.lanes) > 0)
		if err != nil {
			return err
		}
		l, err := newLane(s, fd)
		if err == nil && len(s.lanes) == 0 { // then no lane reads it yet
			s.name, err = nameOf(fd)
		}
		if err != nil {
			_ = unix.Close(fd)
			return err
		}
		s.lanes = append(s.lanes, l)
		s.port.running.Go(l.run)
	}
	return nil
}

// retire says whether sessions may no longer begin.
func (s *site) retire(yes bool) {
	if s.retires.Swap(yes) != yes {
		s.wake()
	}
}

func (s *site) wake() {
	for _, l := range s.lanes {
		l.poller.wake()
	}
}

// leave lets go of a lane that is done. It gives false when there may be more for it to do.
func (s *site) leave(l *lane) bool {
	p := s.port
	done := func() bool { return p.closing.Load() || l.broken || s.retires.Load() && s.sessions.Load() == 0 }
	if !done() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !done() { // the port was told to listen here again
		return false
	}
	s.lanes = slices.DeleteFunc(s.lanes, func(other *lane) bool { return other == l })
	if len(s.lanes) == 0 {
		p.sites = slices.DeleteFunc(p.sites, func(other *site) bool { return other == s })
	}
	return true
}

// over takes note of a session that is over, and lets the lanes go if it was the last they waited for.
func (s *site) over() {
	s.port.counters.sessions.Add(-1)
	if s.sessions.Add(-1) == 0 && s.retires.Load() {
		s.port.mu.Lock()
		defer s.port.mu.Unlock()
		s.wake()
	}
}
