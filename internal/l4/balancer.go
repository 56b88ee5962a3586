// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

// balancer chooses among endpoints that are as good as each other. One is of one listener; its calls do not overlap.
type balancer interface {
	// choose gives the index of one of the candidates, of which there is at least one.
	choose(candidates []*target) int
}

// newBalancer gives the balancer of a name, as settings say it.
func newBalancer(leastConnections bool) balancer {
	if leastConnections {
		return &fewest{}
	}
	return inTurn{}
}

// inTurn is round robin; who has twice the weight has two turns, with those of others between (smooth weighted round robin).
type inTurn struct{}

func (inTurn) choose(candidates []*target) int {
	best, sum := 0, 0
	for i, one := range candidates {
		one.due += one.weight
		sum += one.weight
		if one.due > candidates[best].due {
			best = i
		}
	}
	candidates[best].due -= sum
	return best
}

// fewest takes the endpoint with the fewest connections for its weight, in turn among equals.
type fewest struct{ next uint }

func (b *fewest) choose(candidates []*target) int {
	n := uint(len(candidates))
	best := b.next % n
	for i := uint(1); i < n; i++ {
		at := (b.next + i) % n
		if one, other := candidates[at], candidates[best]; one.active*other.weight < other.active*one.weight {
			best = at
		}
	}
	b.next = best + 1
	return int(best)
}
