// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// connection is one from a client, with the one to an endpoint.
type connection struct {
	client *net.TCPConn
	// server and target are set before established is.
	server      *net.TCPConn
	target      *target
	established atomic.Bool
	cause       atomic.Uint32 // why it was closed by us, as a model.StreamOutcome; zero when it was not

	toServer, toClient meter
	entry              *logEntry // nil if it is not logged

	// Of the sweep.
	moved uint64
	since time.Time // when moved was seen first
}

// idleFor tells for how long nothing was moved.
func (c *connection) idleFor(now time.Time) time.Duration {
	if moved := c.toServer.own.Load() + c.toClient.own.Load(); moved != c.moved || c.since.IsZero() {
		c.moved, c.since = moved, now
	}
	return now.Sub(c.since)
}

func (c *connection) endAs(outcome model.StreamOutcome) {
	c.cause.CompareAndSwap(0, uint32(outcome))
	c.close()
}

func (c *connection) close() {
	_ = c.client.Close()
	if c.established.Load() {
		_ = c.server.Close()
	}
}

// serve takes a connection from its first to its last byte.
func (t *tcp) serve(c *connection) model.StreamOutcome {
	defer func() { _ = c.client.Close() }()
	terms := t.terms.Load()
	var from origin
	defer func() { c.entry.from(&from) }()
	if terms.listener.AcceptProxy {
		var err error
		if from, err = receiveHeader(c.client, terms.client.Trusted, terms.client.HeaderTimeout); err != nil {
			t.log.Debug("connection has no PROXY header", "listener", terms.listener.Name(), "client", c.client.RemoteAddr(), "err", err)
			return model.StreamBadHeader
		}
	} else if terms.listener.SendProxy != 0 {
		from.source, from.destination = c.client.RemoteAddr().(*net.TCPAddr), c.client.LocalAddr().(*net.TCPAddr)
	}
	server, chosen, err := t.connect(terms, from, c.entry)
	if err != nil {
		t.log.Debug("connection leads nowhere", "listener", terms.listener.Name(), "client", c.client.RemoteAddr(), "err", err)
		abort(c.client)
		if errors.Is(err, errNoEndpoint) {
			return model.StreamNoEndpoint
		}
		return model.StreamUnreachable
	}
	defer t.targets.release(chosen)
	defer func() { _ = server.Close() }()
	if len(from.read) > 0 {
		if _, err := server.Write(from.read); err != nil {
			abort(c.client)
			return model.StreamReset
		}
		c.toServer.add(len(from.read))
	}
	c.server, c.target = server, chosen
	c.established.Store(true)
	if t.ctx.Err() != nil {
		return model.StreamDrained
	}
	err = relay(t.pipes, c.client, server, &c.toServer, &c.toClient)
	switch cause := model.StreamOutcome(c.cause.Load()); {
	case cause != 0:
		return cause
	case t.ctx.Err() != nil:
		return model.StreamDrained
	case err != nil:
		return model.StreamReset
	}
	return model.StreamDone
}

var errNoEndpoint = errors.New("the backend has no endpoint")

// connect opens a connection to an endpoint, another one if that fails and the settings want it. The endpoint is to be released afterwards. The entry,
// which may be nil, is told.
func (t *tcp) connect(terms *terms, from origin, log *logEntry) (*net.TCPConn, *target, error) {
	begin := time.Now()
	left := func() time.Duration {
		if terms.proxy.RetryWithin <= 0 {
			return terms.connect
		}
		return min(terms.connect, terms.proxy.RetryWithin-time.Since(begin))
	}
	err := errNoEndpoint
	var tried []*target
	for patience := terms.connect; patience > 0; patience = left() {
		chosen := t.targets.acquire(tried, time.Now())
		if chosen == nil {
			break
		}
		var server *net.TCPConn
		log.tries()
		if server, err = dial(t.ctx, chosen.address, patience, terms.listener.SendProxy, from); err == nil {
			t.targets.answered(chosen)
			log.connected(chosen.address)
			return server, chosen, nil
		}
		t.targets.release(chosen)
		t.counts.failures.Add(1)
		log.failed(chosen.address)
		if !isOurs(err) {
			t.targets.failed(chosen, time.Now())
		}
		tried = append(tried, chosen)
		if !terms.proxy.Retry || terms.proxy.Tries > 0 && len(tried) >= terms.proxy.Tries {
			break
		}
	}
	return nil, nil, err
}

// dial opens a connection and sends the PROXY header of that version on it, if any.
func dial(ctx context.Context, endpoint netip.AddrPort, patience time.Duration, header uint8, from origin) (*net.TCPConn, error) {
	dialer := net.Dialer{Timeout: patience, KeepAlive: -1}
	// Not DialTCP, which binds the socket first: then all endpoints together could have no more connections than one alone has now.
	conn, err := dialer.DialContext(ctx, "tcp", endpoint.String())
	if err != nil {
		return nil, err
	}
	server := conn.(*net.TCPConn)
	if header == 0 {
		return server, nil
	}
	if err := from.sendHeader(server, header); err != nil {
		_ = server.Close()
		return nil, err
	}
	return server, nil
}

// isOurs tells whether a connection failed for want of something on this machine, which says nothing about the endpoint.
func isOurs(err error) bool {
	for _, want := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE, context.Canceled,
	} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}
