// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Balance says how requests, or connections, are spread over the endpoints of a backend, by the endpoints' weights.
type Balance struct {
	Algorithm Algorithm
	// HashBy is what Hash hashes; empty for other algorithms.
	HashBy Template
	// Subset is the size of the groups that Hash spreads over; 0 hashes to one endpoint.
	Subset int
	// SlowStart is how long it takes until an endpoint that joins others has its full share; 0 as the backend says. It means
	// nothing to Hash, and to cookies that are hashed.
	SlowStart time.Duration
	// Affinity keeps a client on an endpoint by a cookie; it overrides Algorithm.
	Affinity *Affinity
}

// Algorithm chooses an endpoint.
type Algorithm uint8

// The algorithms.
const (
	RoundRobin Algorithm = iota // one after the other
	EWMA                        // the one of two by chance that is likely to answer sooner, by how long it took of late and what waits there
	Hash                        // consistent, by Balance.HashBy
	LeastConn                   // the one with the fewest requests in flight
	P2C                         // the one of two by chance with fewer requests in flight
	Random                      // by chance
)

// String gives the word that people write, and data planes read.
func (a Algorithm) String() string {
	return [...]string{"round_robin", "ewma", "hash", "least_conn", "p2c", "random"}[a]
}

// Algorithms gives those that need no more than their name, in the order of the reference.
func Algorithms() []Algorithm { return []Algorithm{RoundRobin, EWMA, LeastConn, P2C, Random} }

// CountsRequests tells whether the choice depends on the requests in flight, so that their ends must be seen. A nil Balance is round robin.
func (b *Balance) CountsRequests() bool {
	return b != nil && b.Affinity == nil && (b.Algorithm == EWMA || b.Algorithm == LeastConn || b.Algorithm == P2C)
}

// CountsRequests tells whether the route or one of its canaries balances so.
func (r *Route) CountsRequests() bool {
	return r.Policy.Balance.CountsRequests() || slices.ContainsFunc(r.Canaries, func(c Canary) bool { return c.Balance.CountsRequests() })
}

func (b *Balance) String() string {
	words := []string{b.Algorithm.String()}
	switch {
	case b.Affinity != nil:
		words[0] = b.Affinity.String()
	case b.Algorithm == Hash:
		words[0] = "hash of " + string(b.HashBy)
	}
	if b.Affinity == nil && b.Subset > 0 {
		words = append(words, fmt.Sprintf("in groups of %d", b.Subset))
	}
	if b.SlowStart > 0 {
		words = append(words, fmt.Sprintf("slow start %s", b.SlowStart))
	}
	return strings.Join(words, " ")
}
