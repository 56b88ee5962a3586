// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"net"
	"net/netip"
	"time"

	"github.com/fairway-ingress/fairway/internal/l4/streamlog"
	"github.com/fairway-ingress/fairway/internal/model"
)

// logEntry collects what the log is to know of a connection. The methods of a nil one do nothing.
type logEntry struct {
	streamlog.Session
	asked time.Time // when the endpoint was that took the connection, or the last one that didn't
}

func newLogEntry(l *model.Listener, client *net.TCPConn) *logEntry {
	return &logEntry{Session: streamlog.Session{Listener: l, Begun: time.Now(), Peer: addressOf(client.RemoteAddr()), Local: addressOf(client.LocalAddr())}}
}

func addressOf(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok && t != nil {
		at := t.AddrPort()
		return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	return netip.AddrPort{}
}

// from notes where a connection comes from.
func (e *logEntry) from(o *origin) {
	if e == nil {
		return
	}
	e.Client = e.Peer
	if o.source != nil {
		e.Client = addressOf(o.source)
	}
	for i, said := range o.said {
		if said != nil {
			e.Header[i] = addressOf(said)
		}
	}
}

// tries notes that an endpoint is asked; connected and failed say what came of it.
func (e *logEntry) tries() {
	if e != nil {
		e.asked = time.Now()
	}
}

func (e *logEntry) connected(to netip.AddrPort) {
	if e != nil {
		e.Endpoint, e.Connect = to, time.Since(e.asked)
	}
}

func (e *logEntry) failed(at netip.AddrPort) {
	if e != nil {
		e.Failed = append(e.Failed, at)
	}
}

// end completes the entry of a connection that is over.
func (e *logEntry) end(c *connection, outcome model.StreamOutcome) {
	e.Outcome, e.Took, e.Served, e.FirstByte = outcome, time.Since(e.Begun), time.Since(e.asked), -1
	e.Received, e.Sent = c.toServer.own.Load(), c.toClient.own.Load()
	if !e.Client.IsValid() {
		e.Client = e.Peer
	}
	if e.Sent > 0 {
		e.FirstByte = c.toClient.begun.Sub(e.asked)
	}
}
