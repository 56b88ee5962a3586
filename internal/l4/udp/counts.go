// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import "sync/atomic"

// Traffic is a number of datagrams and what was in them.
type Traffic struct{ Datagrams, Bytes uint64 }

// Counts are what a port has done since it was made.
type Counts struct {
	// Sessions are those that there are now.
	Sessions int64
	// Begun are all sessions that were. Of those that are over, Done ones had got their answers, Idle ones were silent for too long, Drained ones had to
	// end without their endpoint, Unreachable ones found nobody to take a datagram, and Evicted ones had to go for a new one.
	Begun, Done, Idle, Drained, Unreachable, Evicted uint64
	// Refused and Homeless sessions were not begun, because of the limit and for want of an endpoint.
	Refused, Homeless uint64
	// Received came from clients in sessions, and Sent went to them.
	Received, Sent Traffic
	// Refusals are how often an endpoint did not take a datagram; Retried are those of them after which another endpoint got it.
	Refusals, Retried uint64
	// Lost datagrams, of either side, could not be sent on.
	Lost uint64
}

// list gives what is counted, but for Sessions: as the limit is for all lanes, these are counted at once.
func (c *Counts) list() [15]*uint64 {
	return [...]*uint64{
		&c.Begun, &c.Done, &c.Idle, &c.Drained, &c.Unreachable, &c.Evicted, &c.Refused, &c.Homeless,
		&c.Received.Datagrams, &c.Received.Bytes, &c.Sent.Datagrams, &c.Sent.Bytes, &c.Refusals, &c.Retried, &c.Lost,
	}
}

// counters are Counts while lanes count.
type counters struct {
	sessions atomic.Int64
	others   [15]atomic.Uint64 // in the order of list
}

func (c *counters) read() (counts Counts) {
	counts.Sessions = c.sessions.Load()
	for i, to := range counts.list() {
		*to = c.others[i].Load()
	}
	return counts
}

// add adds what a lane counted by itself, and lets it begin anew.
func (c *counters) add(own *Counts) {
	for i, from := range own.list() {
		if *from != 0 {
			c.others[i].Add(*from)
		}
	}
	*own = Counts{}
}
