// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fairway-ingress/fairway/internal/l4/streamlog"
	"github.com/fairway-ingress/fairway/internal/l4/udp"
	"github.com/fairway-ingress/fairway/internal/model"
)

// ServicesOptions say how Services open ports.
type ServicesOptions struct {
	// Address is where they listen unless the settings say; empty is all addresses, IPv4 and IPv6.
	Address string
	// LowPorts calls a function that may open ports below 1024; nil calls it as it is.
	LowPorts func(func() error) error
	// AccessLog is where lines of sessions go when the settings name no file; nil is nowhere.
	AccessLog io.Writer
	Log       *slog.Logger
}

// Services opens the ports of TCP and UDP services and keeps them in step with the model. Its methods may be called from any goroutine.
type Services struct {
	options ServicesOptions
	log     *slog.Logger
	lines   *streamlog.Log
	pipes   pipes
	memory  *udp.Memory
	owed    chan struct{} // see Restarted
	wake    chan struct{} // for Run, when the terms are others

	mu      sync.Mutex // guards below
	ports   map[portID]*port
	closing map[portID]service // behind ports that were closed, with connections or sessions
	terms   terms              // of the last model
}

// service is what is behind a port: one type for each transport. Its methods are called by Services alone, one at a time.
type service interface {
	// open makes it listen at the places, and at no others, when it gives nil. After an error it may listen at some.
	open(at []place) error
	// use makes terms count for what begins from now on.
	use(terms)
	// close takes nothing new. What is established goes on as if its endpoints had left. The service may be used and opened again.
	close()
	// sweep ends what was idle for too long and what has had its time, both by these terms. It tells whether anything is left.
	sweep(now time.Time, by *terms) (left bool)
	// end ends all there is.
	end()
	// traffic gives what was counted.
	traffic() model.StreamTraffic
}

// terms are what connections and sessions of a port follow.
type terms struct {
	listener *model.Listener
	proxy    model.StreamProxy
	client   model.Client
	connect  time.Duration // how long an endpoint may take to accept
	drain    time.Duration // how long what is established may go on when its endpoint has left
	logged   bool
}

type portID struct {
	transport model.Transport
	number    uint16
}

// port is one that the model has.
type port struct {
	service
	listener *model.Listener
	open     []place // nil while it is not
	failure  error   // why it is not open
}

// NewServices gives one without a port.
func NewServices(options ServicesOptions) *Services {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.LowPorts == nil {
		options.LowPorts = func(do func() error) error { return do() }
	}
	if options.AccessLog == nil {
		options.AccessLog = io.Discard
	}
	return &Services{
		options: options, log: options.Log, lines: streamlog.New(options.AccessLog, options.Log), memory: udp.NewMemory(), owed: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		ports: map[portID]*port{}, closing: map[portID]service{},
		terms: terms{drain: model.DefaultSettings().WorkerShutdownTimeout, proxy: model.DefaultSettings().StreamProxy},
	}
}

// Apply makes m count: ports that it lacks are closed, new ones are opened, and connections and sessions that begin from now on follow it. What is
// established goes on. A port that cannot be opened is tried again by Run, and harms no other.
func (s *Services) Apply(m *model.Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := terms{
		proxy: m.Settings.StreamProxy, client: m.Settings.Client, connect: m.Settings.Route.Timeouts.Connect, drain: m.Settings.WorkerShutdownTimeout,
	}
	next.logged = !m.Settings.Logs.NoStream
	same := reflect.DeepEqual(next, s.terms)
	s.terms = next
	s.lines.Use(&m.Settings.Logs)
	before := s.summary()
	wanted := make(map[portID]bool, len(m.Listeners))
	for _, l := range m.Listeners {
		wanted[portID{l.Transport, l.Port}] = true
	}
	for id, p := range s.ports {
		if !wanted[id] {
			s.close(id, p)
			s.log.Debug("port closed", "listener", p.listener.Name())
		}
	}
	at := places(s.options.Address, m.Settings.Listen)
	for _, l := range m.Listeners {
		s.apply(l, at, same)
	}
	if after := s.summary(); after != before {
		s.log.Info("ports of TCP and UDP services", "open", after.open, "failed", after.failed)
	}
	notify(s.wake)
}

func (s *Services) close(id portID, p *port) {
	p.close()
	s.closing[id] = p.service
	delete(s.ports, id)
}

// summary counts ports.
type summary struct{ open, failed int }

func (s *Services) summary() (sum summary) {
	for _, p := range s.ports {
		if p.failure == nil {
			sum.open++
		} else {
			sum.failed++
		}
	}
	return sum
}

// apply makes a listener count. The terms may be the same as those that its port has.
func (s *Services) apply(l *model.Listener, at []place, same bool) {
	id := portID{l.Transport, l.Port}
	p := s.ports[id]
	if p == nil {
		behind := s.closing[id]
		if behind == nil {
			behind = s.newService(l.Transport)
		}
		if behind == nil {
			return
		}
		delete(s.closing, id)
		p = &port{service: behind}
		s.ports[id] = p
	}
	if !same || p.listener != l {
		t := s.terms
		t.listener, p.listener = l, l
		p.use(t)
	}
	if p.failure != nil || !slices.Equal(p.open, at) {
		s.open(p, at)
	}
}

// newService gives what is behind a port of a transport; nil when there is nothing.
func (s *Services) newService(transport model.Transport) service {
	switch transport {
	case model.TCP:
		return newTCP(s.log, s.lines, &s.pipes)
	case model.UDP:
		return newUDP(s.log, s.lines, s.memory)
	}
	return nil
}

// open tries to open a port.
func (s *Services) open(p *port, at []place) {
	before := p.failure
	p.open = at
	p.failure = s.options.LowPorts(func() error { return p.service.open(at) })
	switch {
	case p.failure == nil:
		s.log.Debug("port opened", "listener", p.listener.Name(), "backend", p.listener.Backend.ID.String())
	case before == nil || before.Error() != p.failure.Error():
		s.log.Error("port cannot be opened, which is tried again", "listener", p.listener.Name(), "err", p.failure)
	}
}

// Notices are the ports that cannot be opened.
func (s *Services) Notices() []model.Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	var problems []model.Problem
	for _, p := range s.ports {
		if p.failure == nil {
			continue
		}
		problems = append(problems, model.Problem{
			Object: p.listener.Owner, Field: p.listener.Field, Reason: model.ReasonPortUnavailable,
			Message: fmt.Sprintf("%s cannot be opened, which is tried again: %v; %s", p.listener.Name(), p.failure, remedy(p.failure)),
		})
	}
	return problems
}

func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "stop who uses the port, or choose another"
	case errors.Is(err, syscall.EACCES):
		return "grant CAP_NET_BIND_SERVICE, or choose a port above 1023"
	}
	return "choose another port or address"
}

// Restarted sends a value when Notices gives others than before without an Apply.
func (s *Services) Restarted() <-chan struct{} { return s.owed }

// Traffic gives what was counted of each port, in no order.
func (s *Services) Traffic() []model.StreamTraffic {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]model.StreamTraffic, 0, len(s.ports))
	for _, p := range s.ports {
		t := p.traffic()
		t.Listener = p.listener
		list = append(list, t)
	}
	return list
}

// Run opens what could not be opened, and ends what has had its time, until ctx ends. Then ports are closed, and Run returns when all connections and
// sessions are over, or when they have had as long as nginx' workers (worker-shutdown-timeout).
func (s *Services) Run(ctx context.Context) {
	defer s.writeLines()()
	retry := time.NewTicker(retryEvery)
	defer retry.Stop()
	sweep := time.NewTimer(s.pace())
	defer sweep.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-retry.C:
			s.retry()
		case <-sweep.C:
			s.sweep(time.Now())
		}
		sweep.Reset(s.pace())
	}
	s.finish()
}

// writeLines writes the log until the result is called, which waits for the last lines, yet not for long.
func (s *Services) writeLines() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	written := make(chan struct{})
	go func() { defer close(written); s.lines.Run(ctx) }()
	return func() {
		cancel()
		select {
		case <-written:
		case <-time.After(time.Second):
		}
	}
}

// retryEvery is how often a port is tried that could not be opened.
const retryEvery = time.Second

func (s *Services) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.ports {
		if p.failure == nil {
			continue
		}
		s.open(p, p.open)
		if p.failure == nil {
			notify(s.owed)
		}
	}
}

// pace is how often is looked for what has had its time, which it so may exceed by a little.
func (s *Services) pace() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(max(min(s.terms.proxy.Timeout, s.terms.drain)/16, 20*time.Millisecond), 5*time.Second)
}

// sweep ends what has had its time, and tells whether anything is left of closed ports.
func (s *Services) sweep(now time.Time) (left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.ports {
		p.sweep(now, &s.terms)
	}
	maps.DeleteFunc(s.closing, func(_ portID, one service) bool { return !one.sweep(now, &s.terms) })
	return len(s.closing) > 0
}

// finish closes all ports and waits for what is established.
func (s *Services) finish() {
	s.mu.Lock()
	for id, p := range s.ports {
		s.close(id, p)
	}
	over := time.Now().Add(s.terms.drain)
	s.mu.Unlock()
	for s.sweep(time.Now()) && time.Now().Before(over) {
		time.Sleep(20 * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.closing {
		one.end()
	}
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
