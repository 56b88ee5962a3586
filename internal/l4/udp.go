// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/fairway-ingress/fairway/internal/l4/streamlog"
	"github.com/fairway-ingress/fairway/internal/l4/udp"
	"github.com/fairway-ingress/fairway/internal/model"
)

// datagrams is a UDP service.
type datagrams struct {
	port   *udp.Port
	lines  *streamlog.Log
	terms  terms
	closed bool
}

func newUDP(log *slog.Logger, lines *streamlog.Log, memory *udp.Memory) *datagrams {
	return &datagrams{port: udp.New(memory, log, udp.Service{}), lines: lines}
}

func (d *datagrams) use(next terms) {
	d.terms, d.closed = next, false
	d.apply(next.listener.Backend)
}

// apply sends datagrams to the endpoints of a backend.
func (d *datagrams) apply(b *model.Backend) {
	s := d.terms.datagrams(b)
	if listener := d.terms.listener; d.lines.On() {
		s.Ended = func(e udp.Ended) { d.log(listener, &e) }
	}
	d.port.Apply(s)
}

// outcomes are those of package udp in the model's words.
var outcomes = [...]model.StreamOutcome{
	udp.Closed: model.StreamDrained, udp.Done: model.StreamDone, udp.Idle: model.StreamIdle, udp.Drained: model.StreamDrained,
	udp.Unreachable: model.StreamUnreachable, udp.Evicted: model.StreamEvicted, udp.Homeless: model.StreamNoEndpoint,
}

// log writes the line of a session.
func (d *datagrams) log(listener *model.Listener, e *udp.Ended) {
	d.lines.Write(&streamlog.Session{
		Listener: listener, Outcome: outcomes[e.Outcome], Client: e.Client, Peer: e.Client, Local: e.Local,
		Begun: time.Now().Add(-e.Took), Took: e.Took, Received: e.Received, Sent: e.Sent,
		Failed: e.Failed, Endpoint: e.Endpoint, FirstByte: e.FirstAnswer, Served: e.Took,
	})
}

// datagrams gives the service for datagrams to the endpoints of a backend.
func (t *terms) datagrams(b *model.Backend) udp.Service {
	s := udp.Service{
		Responses: t.proxy.Responses, Timeout: t.proxy.Timeout, Tries: t.proxy.Tries, Drain: t.drain, Limit: t.proxy.MaxConnections,
		Proxy: t.listener.SendProxy != 0,
	}
	if !t.proxy.Retry {
		s.Tries = 1
	}
	ranks := newRanks(b.Usable())
	for _, e := range b.Endpoints {
		s.Endpoints = append(s.Endpoints, udp.Endpoint{AddrPort: e.AddrPort, Weight: e.Weight, Rank: int(ranks.of(e.AddrPort))})
	}
	return s
}

func (d *datagrams) open(at []place) error {
	var addresses []netip.AddrPort
	for _, p := range at {
		all, err := p.addresses()
		if err != nil {
			return err
		}
		for _, ip := range all {
			addresses = append(addresses, netip.AddrPortFrom(ip, d.terms.listener.Port))
		}
	}
	return d.port.Listen(addresses)
}

// addresses are those to listen at, with the unspecified ones for all of a family.
func (p place) addresses() ([]netip.Addr, error) {
	switch four, six := netip.IPv4Unspecified(), netip.IPv6Unspecified(); {
	case p.address != "":
		one, err := netip.ParseAddr(p.address)
		return []netip.Addr{one}, err
	case p.family == "4":
		return []netip.Addr{four}, nil
	case p.family == "6":
		return []netip.Addr{six}, nil
	default:
		return []netip.Addr{four, six}, nil
	}
}

func (d *datagrams) close() {
	d.closed = true
	_ = d.port.Listen(nil) // nothing is opened
	d.apply(&model.Backend{})
}

// sweep leaves it to the port to end sessions.
func (d *datagrams) sweep(time.Time, *terms) (left bool) {
	if !d.closed || d.port.Counts().Sessions > 0 {
		return true
	}
	d.port.Close()
	return false
}

func (d *datagrams) end() { d.port.Close() }

func (d *datagrams) traffic() model.StreamTraffic {
	c := d.port.Counts()
	t := model.StreamTraffic{
		Open: int(c.Sessions), Received: c.Received.Bytes, Sent: c.Sent.Bytes, Failures: c.Refusals,
		Datagrams: model.Datagrams{Received: c.Received.Datagrams, Sent: c.Sent.Datagrams, Lost: c.Lost},
	}
	t.Ended[model.StreamDone] = c.Done
	t.Ended[model.StreamIdle] = c.Idle
	t.Ended[model.StreamDrained] = c.Drained
	t.Ended[model.StreamEvicted] = c.Evicted
	t.Ended[model.StreamRefused] = c.Refused
	t.Ended[model.StreamNoEndpoint] = c.Homeless
	t.Ended[model.StreamUnreachable] = c.Unreachable
	return t
}
