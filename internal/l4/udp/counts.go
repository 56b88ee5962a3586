// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import "sync/atomic"

// Traffic is a number of datagrams and what was in them.
type Traffic struct{ Datagrams, Bytes uint64 }

// Counts are what a port has done since it was opened.
type Counts struct {
	// Sessions are those that there are now, Begun all that were.
	Sessions int64
	Begun    uint64
	// Evicted sessions had to end for a new one, Refused ones were not begun, because of the limit.
	Evicted, Refused uint64
	// Received came from clients and Sent went to them.
	Received, Sent Traffic
	// Retried datagrams went to another endpoint because one refused them.
	Retried uint64
	// Homeless datagrams of clients came while there was no endpoint; Lost ones, of either side, could not be sent on.
	Homeless, Lost uint64
}

// counters are Counts while lanes count.
type counters struct {
	sessions                                 atomic.Int64
	begun, evicted, refused                  atomic.Uint64
	received, receivedBytes, sent, sentBytes atomic.Uint64
	retried, homeless, lost                  atomic.Uint64
}

func (c *counters) read() Counts {
	return Counts{
		Sessions: c.sessions.Load(), Begun: c.begun.Load(), Evicted: c.evicted.Load(), Refused: c.refused.Load(),
		Received: Traffic{c.received.Load(), c.receivedBytes.Load()}, Sent: Traffic{c.sent.Load(), c.sentBytes.Load()},
		Retried: c.retried.Load(), Homeless: c.homeless.Load(), Lost: c.lost.Load(),
	}
}

// add adds what a lane counted by itself. Sessions are not among that: the limit is for all lanes, so they are counted at once.
func (c *counters) add(own *Counts) {
	for _, pair := range [...]struct {
		to *atomic.Uint64
		n  uint64
	}{
		{&c.begun, own.Begun}, {&c.evicted, own.Evicted}, {&c.refused, own.Refused},
		{&c.received, own.Received.Datagrams}, {&c.receivedBytes, own.Received.Bytes}, {&c.sent, own.Sent.Datagrams}, {&c.sentBytes, own.Sent.Bytes},
		{&c.retried, own.Retried}, {&c.homeless, own.Homeless}, {&c.lost, own.Lost},
	} {
		if pair.n != 0 {
			pair.to.Add(pair.n)
		}
	}
	*own = Counts{}
}
