// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Port proxies the datagrams that come to its addresses. All methods are safe for concurrent use.
type Port struct {
	memory   *Memory
	log      *slog.Logger
	targets  atomic.Pointer[targets]
	counters counters
	closing  atomic.Bool
	running  sync.WaitGroup
	// roomWanted says that a lane met with the limit and had no session that could go.
	roomWanted atomic.Bool
	// complained is when the log was told of trouble, in nanoseconds since 1970.
	complained atomic.Int64

	mu    sync.Mutex // guards below
	sites []*site
}

// New gives a port that listens nowhere. The memory is shared with other ports.
func New(memory *Memory, log *slog.Logger, service Service) *Port {
	p := &Port{memory: memory, log: log}
	p.targets.Store(newTargets(service, nil))
	return p
}

// Listen makes the port listen at addresses, and at no others if it gives nil. An unspecified address is all of its family, and only of that; on a
// machine without IPv6, "::" is none. Where it listens no more, no session begins, and those that there are may end: when they have got all answers
// that are due, when they were silent for a few seconds, or by the drain time of the service.
func (p *Port) Listen(addresses []netip.AddrPort) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sites {
		s.retire(!slices.ContainsFunc(addresses, s.isAt))
	}
	var errs []error
	for _, a := range addresses {
		if err := p.open(a); err != nil && (!errors.Is(err, unix.EAFNOSUPPORT) || a.Addr() != netip.IPv6Unspecified()) {
			errs = append(errs, fmt.Errorf("listen on UDP %s: %w", a, err))
		}
	}
	return errors.Join(errs...)
}

// open completes the site of an address.
func (p *Port) open(at netip.AddrPort) error {
	for _, s := range p.sites {
		if s.isAt(at) {
			return s.open()
		}
	}
	s := newSite(p, at)
	err := s.open()
	if len(s.lanes) > 0 {
		p.sites = append(p.sites, s)
	}
	return err
}

// Addresses are those that it listens at.
func (p *Port) Addresses() []netip.AddrPort {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []netip.AddrPort
	for _, s := range p.sites {
		if !s.retires.Load() {
			list = append(list, s.name)
		}
	}
	return list
}

// Apply makes a service count for sessions from now on. Those whose endpoint is still there go on; the others have to end after a while.
func (p *Port) Apply(service Service) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.targets.Store(newTargets(service, p.targets.Load()))
	p.wake()
}

// Counts gives what was counted so far.
func (p *Port) Counts() Counts { return p.counters.read() }

// Close ends everything. The port cannot be used again.
func (p *Port) Close() {
	p.closing.Store(true)
	p.mu.Lock()
	p.wake()
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Port) wake() {
	for _, s := range p.sites {
		s.wake()
	}
}

// askForRoom asks all lanes for a session that can go.
func (p *Port) askForRoom() {
	if !p.roomWanted.Swap(true) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wake()
	}
}

// complainEvery is how often the log tells of trouble with a port at most.
const complainEvery = time.Minute

// complain logs what one session of many met with.
func (p *Port) complain(what string, to netip.AddrPort, err error) {
	now := time.Now().UnixNano()
	if last := p.complained.Load(); now-last >= int64(complainEvery) && p.complained.CompareAndSwap(last, now) {
		p.log.Warn(what, "endpoint", to, "err", err)
	}
}
