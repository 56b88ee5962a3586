// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Options say where a port is.
type Options struct {
	// Addresses are listened on. An unspecified one is all of its family, and only of that: 0.0.0.0 is IPv4, :: is IPv6. If the port is 0, the kernel
	// chooses one for each.
	Addresses []netip.AddrPort
	// Memory is shared with other ports.
	Memory *Memory
	Log    *slog.Logger
}

// mostLanes is how many processors one port can use.
const mostLanes = 8

// quietAtStop is how long a session must be silent to count as over while the port stops.
const quietAtStop = 5 * time.Second

// Port proxies the datagrams that come to it, from Open until Close or Stop. All methods are safe for concurrent use.
type Port struct {
	options  Options
	names    []netip.AddrPort
	lanes    []*lane
	targets  atomic.Pointer[targets]
	counters counters
	stopping atomic.Bool
	closing  atomic.Bool
	running  sync.WaitGroup
	// complained is when the log was told of trouble, in nanoseconds since 1970.
	complained atomic.Int64

	mu   sync.Mutex
	over bool // lanes are closed; they may no longer be woken
}

// Open opens a port. It works when Open returns.
func Open(options Options, service Service) (*Port, error) {
	p := &Port{options: options}
	p.targets.Store(newTargets(service))
	for _, name := range options.Addresses {
		if err := p.listen(name); err != nil {
			for _, l := range p.lanes {
				l.close()
			}
			return nil, err
		}
	}
	for _, l := range p.lanes {
		p.running.Go(l.run)
	}
	return p, nil
}

func (p *Port) listen(name netip.AddrPort) error {
	sockets, err := listen(name, min(runtime.GOMAXPROCS(0), mostLanes))
	if err != nil {
		return err
	}
	if name, err = nameOf(sockets[0]); err != nil {
		closeAll(sockets)
		return err
	}
	p.names = append(p.names, name)
	for i, fd := range sockets {
		l, err := newLane(p, fd, name)
		if err != nil {
			closeAll(sockets[i:])
			return fmt.Errorf("listen on UDP %s: %w", name, err)
		}
		p.lanes = append(p.lanes, l)
	}
	return nil
}

// Addresses are those listened on.
func (p *Port) Addresses() []netip.AddrPort { return p.names }

// Apply makes a service count for sessions from now on. Those whose endpoint is still there go on; the others have to end after a while.
func (p *Port) Apply(service Service) {
	p.targets.Store(newTargets(service))
	p.wake()
}

// Counts gives what was counted so far.
func (p *Port) Counts() Counts { return p.counters.read() }

// Stop begins no more sessions and returns when those that there are have ended, or when the context has; then the port is closed. Sessions of which
// answers are due are waited for, others until they are silent.
func (p *Port) Stop(ctx context.Context) {
	p.stopping.Store(true)
	p.wake()
	over := make(chan struct{})
	go func() { p.running.Wait(); close(over) }()
	select {
	case <-over:
	case <-ctx.Done():
	}
	p.Close()
	<-over
}

// Close closes the port and ends its sessions.
func (p *Port) Close() {
	p.closing.Store(true)
	p.wake()
	p.running.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.over = true
	for _, l := range p.lanes {
		l.close()
	}
}

// complainEvery is how often the log tells of trouble with a port at most.
const complainEvery = time.Minute

// complain logs what one session of many met with.
func (p *Port) complain(what string, to netip.AddrPort, err error) {
	now := time.Now().UnixNano()
	if last := p.complained.Load(); now-last >= int64(complainEvery) && p.complained.CompareAndSwap(last, now) {
		p.options.Log.Warn(what, "address", p.names, "endpoint", to, "err", err)
	}
}

func (p *Port) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	for _, l := range p.lanes {
		l.poller.wake()
	}
}
