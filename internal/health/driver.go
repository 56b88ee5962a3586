// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/fairway-ingress/fairway/internal/front"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Options of a Driver.
type Options struct {
	Log *slog.Logger
	// AllowLocal lets checks connect to addresses of this host and its link. It is meant for tests and demos.
	AllowLocal bool
	// Parallel bounds the checks under way at once; 0 for 256.
	Parallel int
}

// Driver brings models into force with what checks say of their endpoints. It is a controller.Driver.
type Driver struct {
	front.Front // which owes an Apply when an endpoint is found to be another than before
	options     Options
	log         *slog.Logger

	mu       sync.Mutex // guards below
	round    uint64     // counts the models
	backends map[model.BackendID]*backend
	probes   map[target]*probe
	queue    queue
	totals   Totals
}

// backend is one with a check.
type backend struct {
	seen          uint64
	plain, marked *model.Backend // as it came last, and with what is known
	probes        []*probe       // in the order of its endpoints
	stale         bool           // marked is not what is known now
}

// New gives a driver before another.
func New(inner front.Inner, options Options) *Driver {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Parallel == 0 {
		options.Parallel = 256
	}
	return &Driver{
		Front: front.New(inner), options: options, log: options.Log,
		backends: map[model.BackendID]*backend{}, probes: map[target]*probe{},
	}
}

// Apply brings m into force, with what is known. Its endpoints are checked from now on, and no others.
func (d *Driver) Apply(ctx context.Context, m *model.Model) (model.Change, error) {
	return d.Inner.Apply(ctx, d.mark(m))
}

// mark gives a copy of the model, or m itself when all is well. A backend stays the same pointer until something of it changes.
func (d *Driver) mark(m *model.Model) *model.Model {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.round++
	var backends []*model.Backend
	for i, plain := range m.Backends {
		if marked := d.current(plain); marked != plain {
			if backends == nil {
				backends = slices.Clone(m.Backends)
			}
			backends[i] = marked
		}
	}
	var listeners []*model.Listener
	for i, l := range m.Listeners {
		if marked := d.current(l.Backend); marked != l.Backend {
			if listeners == nil {
				listeners = slices.Clone(m.Listeners)
			}
			copied := *l
			copied.Backend = marked
			listeners[i] = &copied
		}
	}
	for id, b := range d.backends {
		if b.seen != d.round {
			d.release(b, b.probes)
			delete(d.backends, id)
		}
	}
	if backends == nil && listeners == nil {
		return m
	}
	copied := *m
	if backends != nil {
		copied.Backends = backends
	}
	if listeners != nil {
		copied.Listeners = listeners
	}
	return &copied
}

// current gives a backend with what is known of its endpoints.
func (d *Driver) current(plain *model.Backend) *model.Backend {
	if plain == nil || plain.Health == nil || plain.Health.Check == nil {
		return plain
	}
	return d.follow(plain).marked
}

// follow brings what is known of a backend up to date.
func (d *Driver) follow(plain *model.Backend) *backend {
	b := d.backends[plain.ID]
	if b == nil {
		b = &backend{}
		d.backends[plain.ID] = b
	}
	b.seen = d.round
	if b.plain != plain {
		b.plain, b.stale = plain, true
		d.watch(b)
	}
	if b.stale {
		b.stale, b.marked = false, b.mark()
	}
	return b
}

// mark gives the backend with those of its endpoints that are not well.
func (b *backend) mark() *model.Backend {
	var unhealthy []model.Endpoint
	for i, p := range b.probes {
		if p.unhealthy {
			unhealthy = append(unhealthy, b.plain.Endpoints[i])
		}
	}
	if unhealthy == nil {
		return b.plain
	}
	if b.marked != nil && b.marked.Unhealthy != nil {
		again := *b.plain
		again.Unhealthy = unhealthy
		if again.Equal(b.marked) {
			return b.marked
		}
	}
	copied := *b.plain
	copied.Unhealthy = unhealthy
	return &copied
}

// Run runs the inner driver, and checks, until ctx ends.
func (d *Driver) Run(ctx context.Context) error {
	return d.RunWith(ctx, func(ctx context.Context) { d.Tend(ctx, d.options.Parallel, d.next) })
}
