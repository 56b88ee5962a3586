// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// shyFor is how long an endpoint that could not be connected to is asked last.
const shyFor = 10 * time.Second

// target is an endpoint of a listener, and what is known of it here. The lock of its targets guards it.
type target struct {
	address  netip.AddrPort
	weight   int
	due      int       // how much of its turn is due, for inTurn
	active   int       // connections
	shyUntil time.Time // after it could not be connected to
	rank     rank
	gone     time.Time // when it left the backend; zero while it is there
}

// rank says when an endpoint gets connections, other things being equal.
type rank uint8

const (
	isFirst rank = iota
	isNext       // when all that are first have failed: in another zone
	isLast       // when all others have: not well, as checks say; see package health
)

// ranks are those of endpoints by their addresses; isLast ones are not in it.
type ranks map[netip.AddrPort]rank

func newRanks(first, next []model.Endpoint) ranks {
	r := make(ranks, len(first)+len(next))
	for _, e := range first {
		r[e.AddrPort] = isFirst
	}
	for _, e := range next {
		r[e.AddrPort] = isNext
	}
	return r
}

func (r ranks) of(address netip.AddrPort) rank {
	if one, known := r[address]; known {
		return one
	}
	return isLast
}

// targets are the endpoints of one listener.
type targets struct {
	mu       sync.Mutex // guards below, and what is in the targets
	list     []*target  // those of the backend, in its order
	balancer balancer
	fewest   bool
	left     []*target // not of the backend any more, yet with connections
}

// use takes other endpoints. Those that stay keep what is known of them.
func (t *targets) use(endpoints []model.Endpoint, leastConnections bool, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.balancer == nil || t.fewest != leastConnections {
		t.balancer, t.fewest = newBalancer(leastConnections), leastConnections
	}
	known := make(map[netip.AddrPort]*target, len(t.list)+len(t.left))
	for _, one := range slices.Concat(t.list, t.left) {
		if one.gone.IsZero() {
			one.gone = now
		}
		known[one.address] = one
	}
	list := make([]*target, 0, len(endpoints))
	for _, e := range endpoints {
		one := known[e.AddrPort]
		if one == nil {
			one = &target{address: e.AddrPort}
		}
		one.gone, one.weight = time.Time{}, max(e.Weight, 1)
		delete(known, e.AddrPort)
		list = append(list, one)
	}
	t.list, t.left = list, nil
	for _, one := range known {
		if one.active > 0 {
			t.left = append(t.left, one)
		}
	}
}

// leave says that all endpoints have left, although connections that have begun may still go to them.
func (t *targets) leave(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.list {
		one.gone = now
	}
}

// rank says which endpoints get new connections, and which ones when all of the first have failed. Connections that there are go on.
func (t *targets) rank(first, next []model.Endpoint) {
	ranks := newRanks(first, next)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.list {
		one.rank = ranks.of(one.address)
	}
}

// acquire chooses the endpoint for a connection, other than those that were tried for it; nil when there is none. Those that failed lately, or are not well,
// are chosen when all others were tried.
func (t *targets) acquire(tried []*target, now time.Time) *target {
	t.mu.Lock()
	defer t.mu.Unlock()
	var candidates []*target
	for worst := isFirst; worst < isLast && len(candidates) == 0; worst++ {
		candidates = t.without(func(one *target) bool {
			return one.rank > worst || one.shyUntil.After(now) || slices.Contains(tried, one)
		})
	}
	if len(candidates) == 0 {
		candidates = t.without(func(one *target) bool { return slices.Contains(tried, one) })
	}
	if len(candidates) == 0 {
		return nil
	}
	chosen := candidates[t.balancer.choose(candidates)]
	chosen.active++
	return chosen
}

// without gives the endpoints that are not left out.
func (t *targets) without(out func(*target) bool) []*target {
	if !slices.ContainsFunc(t.list, out) {
		return t.list
	}
	return slices.DeleteFunc(slices.Clone(t.list), out)
}

// release says that a connection to the endpoint is over.
func (t *targets) release(one *target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one.active--
	if one.active == 0 && !one.gone.IsZero() {
		t.left = slices.DeleteFunc(t.left, func(other *target) bool { return other == one })
	}
}

// failed notes that the endpoint could not be connected to, and answered that it could.
func (t *targets) failed(one *target, now time.Time) { t.setShy(one, now.Add(shyFor)) }

// answered forgets that the endpoint failed.
func (t *targets) answered(one *target) { t.setShy(one, time.Time{}) }

func (t *targets) setShy(one *target, until time.Time) {
	t.mu.Lock()
	one.shyUntil = until
	t.mu.Unlock()
}

// goneBefore tells whether the endpoint left the backend before that time.
func (t *targets) goneBefore(one *target, limit time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !one.gone.IsZero() && one.gone.Before(limit)
}
