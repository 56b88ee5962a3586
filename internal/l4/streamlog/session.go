// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package streamlog

import (
	"net/netip"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Session is a connection or a session of datagrams that is over.
type Session struct {
	Listener *model.Listener
	Outcome  model.StreamOutcome
	// Client is who it is from, as far as somebody is believed, Peer who sent it, and Local where to.
	Client, Peer, Local netip.AddrPort
	// Header is what the PROXY header said of client and server, whether believed or not; not valid without one.
	Header [2]netip.AddrPort
	Begun  time.Time
	Took   time.Duration
	// Received are the client's bytes that were passed on, Sent those to it.
	Received, Sent uint64
	// Failed are endpoints that were tried in vain, and Endpoint is the one that took it, not valid if none did.
	Failed   []netip.AddrPort
	Endpoint netip.AddrPort
	// Connect is how long Endpoint took to accept, FirstByte how long until it said something, less than 0 if it never did, and Served how long
	// it was connected, all from the moment when it was first asked.
	Connect, FirstByte, Served time.Duration
}

// status says how it ended in nginx' words.
func (s *Session) status() int64 {
	switch s.Outcome {
	case model.StreamBadHeader:
		return 400
	case model.StreamNoEndpoint, model.StreamUnreachable:
		return 502
	case model.StreamRefused:
		return 503
	}
	return 200
}
