// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairway-ingress/fairway/internal/l4/streamlog"
	"github.com/fairway-ingress/fairway/internal/model"
)

// tcp is a TCP service.
type tcp struct {
	log     *slog.Logger
	lines   *streamlog.Log
	pipes   *pipes
	terms   atomic.Pointer[terms]
	targets targets
	counts  counts

	listeners map[place]net.Listener // of the one goroutine that calls open and close
	backend   *model.Backend         // and use
	fewest    bool

	ctx       context.Context // ends by end
	cancel    context.CancelFunc
	accepting sync.WaitGroup

	mu    sync.Mutex // guards conns
	conns map[*connection]struct{}
}

func newTCP(log *slog.Logger, lines *streamlog.Log, spare *pipes) *tcp {
	t := &tcp{log: log, lines: lines, pipes: spare, listeners: map[place]net.Listener{}, conns: map[*connection]struct{}{}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

func (t *tcp) use(next terms) {
	t.terms.Store(&next)
	if b := next.listener.Backend; b != t.backend || next.proxy.LeastConnections != t.fewest {
		t.backend, t.fewest = b, next.proxy.LeastConnections
		t.targets.use(b.Endpoints, t.fewest, time.Now())
		t.targets.rank(b.Usable())
	}
}

func (t *tcp) open(at []place) error {
	wanted := map[place]bool{}
	for _, p := range at {
		wanted[p] = true
	}
	for p, l := range t.listeners {
		if !wanted[p] {
			_ = l.Close()
			delete(t.listeners, p)
		}
	}
	var errs []error
	for _, p := range at {
		if t.listeners[p] != nil {
			continue
		}
		l, err := listenTCP(p, t.terms.Load().listener.Port)
		if err != nil {
			errs = append(errs, err)
		} else if l != nil {
			t.listeners[p] = l
			t.accepting.Go(func() { accept(l, t.log, t.take) })
		}
	}
	return errors.Join(errs...)
}

func (t *tcp) close() {
	for p, l := range t.listeners {
		_ = l.Close()
		delete(t.listeners, p)
	}
	t.accepting.Wait()
	t.targets.leave(time.Now())
	t.backend = nil
}

func (t *tcp) end() {
	t.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		c.close()
	}
}

// take begins to serve a connection, unless there are as many as there may be.
func (t *tcp) take(client *net.TCPConn) {
	c := &connection{client: client}
	c.toServer.total, c.toClient.total = &t.counts.received, &t.counts.sent
	if t.lines.On() {
		c.entry = newLogEntry(t.terms.Load().listener, client)
	}
	t.mu.Lock()
	if most := t.terms.Load().proxy.MaxConnections; most > 0 && len(t.conns) >= most {
		t.mu.Unlock()
		t.ended(c, model.StreamRefused)
		abort(client)
		return
	}
	t.conns[c] = struct{}{}
	t.mu.Unlock()
	go func() {
		outcome := t.serve(c)
		t.mu.Lock()
		delete(t.conns, c)
		t.mu.Unlock()
		t.ended(c, outcome)
	}()
}

// ended counts a connection and logs it.
func (t *tcp) ended(c *connection, outcome model.StreamOutcome) {
	t.counts.ended[outcome].Add(1)
	if c.entry != nil {
		c.entry.end(c, outcome)
		t.lines.Write(&c.entry.Session)
	}
}

// sweep ends connections that were idle for too long, and those whose endpoint has left for longer than they may go on.
func (t *tcp) sweep(now time.Time, by *terms) (left bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		switch {
		case !c.established.Load():
		case c.idleFor(now) >= by.proxy.Timeout:
			c.endAs(model.StreamIdle)
		case t.targets.goneBefore(c.target, now.Add(-by.drain)):
			c.endAs(model.StreamDrained)
		}
	}
	return len(t.conns) > 0
}

func (t *tcp) traffic() model.StreamTraffic {
	t.mu.Lock()
	open := len(t.conns)
	t.mu.Unlock()
	return t.counts.traffic(open)
}
