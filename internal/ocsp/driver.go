// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ocsp

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/front"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Options of a Driver.
type Options struct {
	Log *slog.Logger
	// AllowLocal lets responders have addresses of this host and its link. It is meant for tests and demos.
	AllowLocal bool
	// Patience is how long one question may take, 0 for 10 s; Retry how long an authority that failed is left alone at first, 0 for a minute.
	Patience, Retry time.Duration
}

// Driver brings models into force with what authorities say of their certificates. It is a controller.Driver.
type Driver struct {
	front.Front // which owes an Apply when there is a new answer
	options     Options
	log         *slog.Logger

	mu      sync.Mutex // guards below
	entries map[model.CertificateID]*entry
}

// entry is what is known of one certificate.
type entry struct {
	question *question
	asked    bool // right now
	due      time.Time
	failures int
	failure  string
	answer   model.OCSPAnswer

	plain, stapled *model.Certificate // the one of the last model, and with the answer
}

// New gives a driver before another.
func New(inner front.Inner, options Options) *Driver {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Patience == 0 {
		options.Patience = 10 * time.Second
	}
	if options.Retry == 0 {
		options.Retry = time.Minute
	}
	return &Driver{
		Front: front.New(inner), options: options, log: options.Log, entries: map[model.CertificateID]*entry{},
	}
}

// Apply brings m into force, with the answers that are known. Its certificates are asked about from now on, and no others.
func (d *Driver) Apply(ctx context.Context, m *model.Model) (model.Change, error) {
	if m.Settings.TLS.OCSP {
		m = d.staple(m)
	} else {
		d.forget(nil)
	}
	return d.Inner.Apply(ctx, m)
}

// staple gives a copy of the model. Certificates without an answer stay the same pointers, and so does each until its answer changes.
func (d *Driver) staple(m *model.Model) *model.Model {
	d.mu.Lock()
	fresh := false
	stapled := *m
	stapled.Certificates = make([]*model.Certificate, len(m.Certificates))
	for i, c := range m.Certificates {
		e := d.entries[c.ID]
		if e == nil {
			e = &entry{question: newQuestion(c.Chain)}
			d.entries[c.ID] = e
			fresh = fresh || e.question != nil
		}
		stapled.Certificates[i] = e.with(c)
	}
	d.mu.Unlock()
	d.forget(m.Certificates)
	if fresh {
		d.Wake()
	}
	return &stapled
}

func (e *entry) with(c *model.Certificate) *model.Certificate {
	if e.answer.Text == "" {
		return c
	}
	if e.plain != c || e.stapled.OCSP != e.answer {
		copied := *c
		copied.OCSP = e.answer
		e.plain, e.stapled = c, &copied
	}
	return e.stapled
}

// forget drops what is known of all but some.
func (d *Driver) forget(but []*model.Certificate) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.entries) == len(but) {
		return
	}
	wanted := map[model.CertificateID]bool{}
	for _, c := range but {
		wanted[c.ID] = true
	}
	maps.DeleteFunc(d.entries, func(id model.CertificateID, _ *entry) bool { return !wanted[id] })
}

// Run runs the inner driver, and asks, until ctx ends.
func (d *Driver) Run(ctx context.Context) error {
	client := d.client()
	return d.RunWith(ctx, func(ctx context.Context) {
		d.Tend(ctx, parallel, func() (func(context.Context), time.Duration) { return d.next(client) })
	})
}

func (d *Driver) mayConnect(a netip.Addr) bool {
	return d.options.AllowLocal || !model.IsLocalAddress(a)
}
