// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Options say where a Passthrough listens and where nginx is.
type Options struct {
	// Address and Port are where clients come in; an empty Address is all of them, IPv4 and IPv6.
	Address string
	Port    int
	// Socket is the unix socket of nginx for connections that do not pass through.
	Socket string
	// HelloTimeout is how long a client may take for its ClientHello, ConnectTimeout an endpoint to accept; zero is 10 and 5 seconds.
	HelloTimeout, ConnectTimeout time.Duration
	Log                          *slog.Logger
}

// Passthrough is the listener before nginx that sends connections on by their TLS server name.
type Passthrough struct {
	options   Options
	listeners []net.Listener
	table     atomic.Pointer[table]
	pipes     pipes
	drain     atomic.Int64 // how long connections may go on after Run was told to end, as a time.Duration

	mu    sync.Mutex
	open  map[net.Conn]struct{} // both sides of established connections
	ended bool
	serve sync.WaitGroup
}

// ownLoopback is where nginx reaches this listener while clients have to send a PROXY header, which nginx does not.
const ownLoopback = "127.0.0.2"

// Listen opens the listener. Until the first Apply, all connections go to nginx.
func Listen(options Options) (*Passthrough, error) {
	if options.HelloTimeout == 0 {
		options.HelloTimeout = 10 * time.Second
	}
	if options.ConnectTimeout == 0 {
		options.ConnectTimeout = 5 * time.Second
	}
	p := &Passthrough{options: options, open: map[net.Conn]struct{}{}}
	p.Apply(&model.Model{})
	addresses := []string{options.Address}
	if options.Address != "" {
		addresses = append(addresses, ownLoopback)
	}
	for _, address := range addresses {
		l, err := net.Listen("tcp", net.JoinHostPort(address, fmt.Sprint(options.Port)))
		if err != nil {
			p.closeListeners()
			return nil, fmt.Errorf("listen for TLS passthrough: %w", err)
		}
		p.listeners = append(p.listeners, l)
	}
	return p, nil
}

// Apply makes m count for connections from now on. It may be called at any time.
func (p *Passthrough) Apply(m *model.Model) {
	p.table.Store(newTable(m))
	p.drain.Store(int64(m.Settings.WorkerShutdownTimeout))
}

// Run takes connections until ctx ends; then it takes no more and returns when all are over, or when they have had as long as nginx' workers
// (worker-shutdown-timeout).
func (p *Passthrough) Run(ctx context.Context) {
	var accept sync.WaitGroup
	for _, l := range p.listeners {
		accept.Go(func() { p.accept(ctx, l) })
	}
	<-ctx.Done()
	p.closeListeners()
	accept.Wait()
	over := make(chan struct{})
	go func() { p.serve.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(time.Duration(p.drain.Load())):
		p.closeConnections()
		<-over
	}
}

func (p *Passthrough) closeListeners() {
	for _, l := range p.listeners {
		_ = l.Close()
	}
}

func (p *Passthrough) closeConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for conn := range p.open {
		_ = conn.Close()
	}
}

// note remembers a connection for closeConnections, until the result is called, which closes it.
func (p *Passthrough) note(conn net.Conn) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[conn] = struct{}{}
	if p.ended {
		_ = conn.Close()
	}
	return func() {
		_ = conn.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, conn)
	}
}

func (p *Passthrough) accept(ctx context.Context, l net.Listener) {
	for ctx.Err() == nil {
		conn, err := l.Accept()
		if err == nil {
			p.serve.Go(func() { p.handle(conn.(*net.TCPConn)) })
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		p.options.Log.Error("TLS passthrough cannot accept", "err", err) // too many open files, for one: they may become fewer
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// handle serves one connection from its first to its last byte.
func (p *Passthrough) handle(client *net.TCPConn) {
	defer p.note(client)()
	t := p.table.Load()
	arrival, err := p.meet(client, t)
	if err != nil {
		p.options.Log.Debug("connection ends before its ClientHello", "client", client.RemoteAddr(), "err", err)
		return
	}
	server, err := p.dial(t, arrival)
	if err != nil {
		p.options.Log.Warn("connection leads nowhere", "client", arrival.source, "server-name", arrival.name, "err", err)
		return
	}
	defer p.note(server)()
	if _, err := server.Write(arrival.read); err != nil {
		return
	}
	_ = relay(&p.pipes, client, server, &meter{}, &meter{}) // how it ended is between the two
}

// dial opens the connection to who is meant.
func (p *Passthrough) dial(t *table, a *arrival) (duplex, error) {
	b, ok := t.find(a.name)
	if a.name == "" || !ok {
		return p.dialNginx(a)
	}
	if b == nil {
		return nil, errors.New("the host has no path / with a Service")
	}
	err := errors.New("the backend has no endpoint")
	for _, endpoint := range b.order() {
		conn, failure := net.DialTimeout("tcp", endpoint.String(), p.options.ConnectTimeout)
		if failure == nil {
			return conn.(*net.TCPConn), nil
		}
		err = failure
	}
	return nil, err
}

func (p *Passthrough) dialNginx(a *arrival) (duplex, error) {
	conn, err := net.DialTimeout("unix", p.options.Socket, p.options.ConnectTimeout)
	if err != nil {
		return nil, err
	}
	if _, err := a.header().WriteTo(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}
