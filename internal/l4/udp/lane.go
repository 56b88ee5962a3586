// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// lane is a socket for clients, and the sessions that began on it. What it has is used by its goroutine alone.
type lane struct {
	port     *Port
	site     *site
	fd       int
	wildcard bool // the socket is bound to all addresses
	poller   *poller
	broken   bool // it cannot go on

	targets  *targets
	sessions map[party]*session
	sockets  map[int32]*session
	order    order
	spare    []*session // over, for the next ones
	leaving  bool       // some session has to end because of its endpoint

	begin time.Time     // of the clock
	now   time.Duration // since then, when the lane began to do what it does
	due   time.Duration // when a session may have to end, or before; never without sessions
	own   Counts        // since the last look
	room  *room         // nil while the lane waits
}

// spareSessions is how many ended sessions are kept for use by others.
const spareSessions = 1024

// never is a moment that does not come.
const never = time.Duration(math.MaxInt64)

func newLane(s *site, fd int) (*lane, error) {
	poller, err := newPoller()
	if err != nil {
		return nil, err
	}
	if err := poller.add(fd); err != nil {
		poller.close()
		return nil, err
	}
	return &lane{
		port: s.port, site: s, fd: fd, wildcard: s.asked.Addr().IsUnspecified(), poller: poller,
		targets: s.port.targets.Load(), sessions: map[party]*session{}, sockets: map[int32]*session{}, begin: time.Now(), due: never,
	}, nil
}

// run is the loop of the lane.
func (l *lane) run() {
	defer func() { // after leave, nobody wakes it
		l.poller.close()
		_ = unix.Close(l.fd)
	}()
	for !l.site.leave(l) {
		if err := l.poller.wait(l.wakeup()); err != nil {
			l.port.log.Error("UDP socket ends: it cannot wait for datagrams", "address", l.site.name, "err", err)
			l.broken = true
			continue
		}
		l.tick()
		if l.poller.found > 0 {
			l.room = l.port.memory.get()
			l.work()
			l.port.memory.put(l.room)
			l.room = nil
		}
		if l.now >= l.due {
			l.expire()
		}
		l.port.counters.add(&l.own)
	}
	for l.order.oldest != nil {
		l.end(l.order.oldest, Closed)
	}
}

// tick looks at the clock, and at what the service is now.
func (l *lane) tick() {
	l.now = time.Since(l.begin)
	if t := l.port.targets.Load(); t != l.targets {
		l.retarget(t)
	}
	if l.port.roomWanted.Load() {
		l.makeRoom()
	}
}

// work does what the sockets that are ready ask for.
func (l *lane) work() {
	for _, event := range l.poller.events[:l.poller.found] {
		switch int(event.Fd) {
		case l.fd:
			l.takeFromClients()
		case l.poller.waker:
			l.poller.woken()
			l.due = 0 // whatever it is, it may mean that sessions have to end
		default:
			if s := l.sockets[event.Fd]; s != nil { // else it ended a moment ago
				l.takeFromEndpoint(s)
			}
		}
	}
	l.flush()
}

// wakeup is until when the lane may wait. While another lane wants room, which it asks for once, that is until a session may have to go.
func (l *lane) wakeup() time.Time {
	due := l.due
	if s := l.order.oldest; s != nil && l.port.roomWanted.Load() {
		due = min(due, s.last+silentEnough)
	}
	if due == never {
		return time.Time{}
	}
	return l.begin.Add(due)
}

// retarget takes note of other endpoints. Sessions whose endpoint is among them go on.
func (l *lane) retarget(t *targets) {
	l.targets, l.leaving, l.due = t, false, 0
	for s := l.order.oldest; s != nil; s = s.newer {
		if _, stays := t.members[s.endpoint]; stays {
			s.leaves = 0
			continue
		}
		if end := l.now + t.Drain; s.leaves == 0 || s.leaves > end {
			s.leaves = end
		}
		l.leaving = true
	}
}

// coalesce is how much later than it might a session ends, so that many do at the same time.
const coalesce = 10 * time.Millisecond

// expire ends sessions whose time has come, and finds out when to look again.
func (l *lane) expire() {
	timeout := l.timeout()
	for s := l.order.oldest; s != nil && l.now-s.last >= timeout; s = l.order.oldest {
		l.end(s, Idle)
	}
	l.due = never
	if s := l.order.oldest; s != nil {
		l.due = s.last + timeout
	}
	if l.leaving {
		l.expireLeaving()
	}
	if l.due != never {
		l.due = max(l.due, l.now) + coalesce
	}
}

// expireLeaving ends sessions that were given time to end.
func (l *lane) expireLeaving() {
	l.leaving = false
	for s := l.order.oldest; s != nil; {
		next := s.newer
		switch {
		case s.leaves == 0:
		case l.now >= s.leaves:
			l.end(s, Drained)
		default:
			l.leaving, l.due = true, min(l.due, s.leaves)
		}
		s = next
	}
}

// quiet is how long a session must be silent to be over while its lane retires.
const quiet = 5 * time.Second

func (l *lane) timeout() time.Duration {
	if l.site.retires.Load() {
		return min(l.targets.Timeout, quiet)
	}
	return l.targets.Timeout
}
