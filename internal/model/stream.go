// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

// StreamTraffic is what was counted at the port of a listener since it was opened.
type StreamTraffic struct {
	Listener *Listener
	// Open are the connections, or sessions of UDP, that there are now.
	Open int
	// Ended are those that are over, by how they ended.
	Ended [StreamOutcomes]uint64
	// Received are the bytes of clients that were passed on, Sent those of endpoints.
	Received, Sent uint64
	// Failures are the connections to endpoints that could not be opened, those that another endpoint made good for among them.
	Failures uint64
	// Datagrams are those of UDP.
	Datagrams Datagrams
}

// Datagrams counts those that were passed on, from clients (Received) and to them (Sent), and those that were not (Lost).
type Datagrams struct{ Received, Sent, Lost uint64 }

// StreamOutcome is how a connection or session ended.
type StreamOutcome uint8

// The outcomes. StreamDone is the zero value.
const (
	StreamDone        StreamOutcome = iota // both sides had said all, or all answers that were due had come
	StreamReset                            // one side broke it off
	StreamIdle                             // nothing was said for too long
	StreamDrained                          // the endpoint, the port or the controller was gone, and the time to go on was over
	StreamRefused                          // there were too many
	StreamNoEndpoint                       // there was no endpoint
	StreamUnreachable                      // no endpoint took it
	StreamBadHeader                        // it began with no PROXY header
	StreamEvicted                          // it was silent when there were too many and had to go for a new one
	StreamOutcomes                         // how many there are
)

func (o StreamOutcome) String() string {
	return [...]string{"done", "reset", "idle", "drained", "refused", "no-endpoint", "unreachable", "bad-header", "evicted"}[o]
}
