// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"net/netip"
	"time"
)

// firstWithin is the time in which endpoints that are new are checked first; spread, as a whole Service may be.
const firstWithin = 2 * time.Second

// rest is how long nobody looks whether something is due.
const rest = time.Hour

// target is what a check is about: an address, and the identity of what it is asked.
type target struct {
	address netip.AddrPort
	asked   string
}

// probe is the check of one target, again and again. What it holds is guarded by the Driver's lock, but for asker, which never changes.
type probe struct {
	target
	asker *asker
	users map[*backend]struct{}

	due   time.Time
	place int // in the queue, -1 while it is asked

	unhealthy bool
	row       int // answers in a row that say otherwise than unhealthy does
	why       string
	since     time.Time // that unhealthy is so
}

// watch lets a backend use the probes of its endpoints, and those that it had before no longer.
func (d *Driver) watch(b *backend) {
	before := b.probes
	known := map[netip.AddrPort]*probe{}
	for _, p := range before {
		known[p.address] = p
	}
	check := b.plain.Health.Check
	asked := identify(check)
	var ask *asker
	b.probes = make([]*probe, len(b.plain.Endpoints))
	for i, e := range b.plain.Endpoints {
		t := target{netip.AddrPortFrom(e.Addr(), e.Port()), asked}
		p := d.probes[t]
		if p == nil {
			if ask == nil {
				ask = newAsker(check)
			}
			p = d.begin(t, ask)
			if old := known[t.address]; old != nil { // which is asked something else from now on
				p.unhealthy, p.why, p.since = old.unhealthy, old.why, old.since
			}
		}
		p.users[b] = struct{}{}
		b.probes[i] = p
		delete(known, t.address)
	}
	kept := map[*probe]bool{}
	for _, p := range b.probes {
		kept[p] = true
	}
	var gone []*probe
	for _, p := range before {
		if !kept[p] {
			gone = append(gone, p)
		}
	}
	d.release(b, gone)
}

// begin makes a probe that is due soon.
func (d *Driver) begin(t target, ask *asker) *probe {
	within := min(firstWithin, ask.check.Interval)
	p := &probe{target: t, asker: ask, users: map[*backend]struct{}{}, due: time.Now().Add(time.Duration(rand.Int64N(int64(within))))}
	d.probes[t] = p
	heap.Push(&d.queue, p)
	d.Wake()
	return p
}

// release ends probes that nobody but b uses.
func (d *Driver) release(b *backend, probes []*probe) {
	for _, p := range probes {
		delete(p.users, b)
		if len(p.users) > 0 || d.probes[p.target] != p {
			continue
		}
		delete(d.probes, p.target)
		if p.place >= 0 {
			heap.Remove(&d.queue, p.place)
		}
	}
}

// next takes the probe that is due out of the queue, or says how long none is.
func (d *Driver) next() (ask func(context.Context), wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) == 0 {
		return nil, rest
	}
	if left := time.Until(d.queue[0].due); left > 0 {
		return nil, left
	}
	p := heap.Pop(&d.queue).(*probe)
	return func(ctx context.Context) {
		begin := time.Now()
		err := p.asker.ask(ctx, p.address, d.options.AllowLocal)
		if ctx.Err() == nil {
			d.note(p, begin, err)
		}
	}, 0
}

// note counts an answer, and lets the model be applied again when it makes a difference.
func (d *Driver) note(p *probe, begin time.Time, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.totals.count(err)
	if d.probes[p.target] != p {
		return // nobody wants to know any more
	}
	p.due = begin.Add(jitter(p.asker.check.Interval))
	heap.Push(&d.queue, p)
	d.Wake()
	if !p.judge(err, begin) {
		return
	}
	for b := range p.users {
		b.stale = true
		d.log.Info("endpoint is found to be another than before", "backend", b.plain.ID.String(), "endpoint", p.address.String(), "unhealthy", p.unhealthy, "reason", p.why)
	}
	d.Owe()
}

// judge counts an answer, nil when it was good, and tells whether it turns the verdict.
func (p *probe) judge(err error, at time.Time) bool {
	if err != nil {
		p.why = brief(err)
	}
	if (err != nil) == p.unhealthy {
		p.row = 0
		return false
	}
	p.row++
	needed := p.asker.check.Unhealthy
	if p.unhealthy {
		needed = p.asker.check.Healthy
	}
	if p.row < needed {
		return false
	}
	p.unhealthy, p.row, p.since = !p.unhealthy, 0, at
	if !p.unhealthy {
		p.why = ""
	}
	return true
}

// jitter gives a time that is off by a tenth at most.
func jitter(interval time.Duration) time.Duration {
	tenth := int64(interval / 10)
	return interval - time.Duration(tenth) + time.Duration(rand.Int64N(2*tenth+1))
}

// queue is a heap of the probes that are not being asked, by when they are due.
type queue []*probe

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	p := x.(*probe)
	p.place = len(*q)
	*q = append(*q, p)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	p.place = -1
	return p
}
