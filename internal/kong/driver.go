// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Translate says what a gateway is to hold for a model, and what it cannot.
type Translate func(*model.Model, *entity.Gateway) (*entity.State, []model.Problem)

// Options say which gateways are driven and how. Gateways, Connect, Translate and Log are required.
type Options struct {
	Gateways  Discovery
	Connect   func(Endpoint) (*admin.Client, error)
	Translate Translate
	// Tag is on all that is ours in a database.
	Tag string
	// Key goes into the fingerprints in tags; may be empty.
	Key []byte
	// ReverseSync repairs what was changed by hand.
	ReverseSync bool
	// SkipCACertificates leaves CA certificates alone.
	SkipCACertificates bool
	// Own is set when the gateways are this replica's alone, so that it writes whoever leads; that does not count with a database.
	Own bool
	// Leads tells whether this replica leads; nil for always.
	Leads func() bool
	// WatchEvery is how often each gateway is looked at, 3 s unless given; VerifyEvery how often all that it holds is, and RetryEvery how often it is
	// asked again to take what it refused, 10 min unless given.
	WatchEvery, VerifyEvery, RetryEvery time.Duration
	// Patience is how long Apply waits for a gateway that answers, and LookPatience how long one may take to say how it is; 5 s unless given.
	Patience, LookPatience time.Duration
	// LeaveOut has what a gateway without a database refuses left out, even where its last good form is known. A plugin that decides who may pass keeps
	// that all the same.
	LeaveOut bool
	// KeepFailed has what gateways do not take remembered for [Driver.Dump].
	KeepFailed bool
	// Pushed is told of every attempt to write, FellBack of every document that was made without so much that is refused, and Gone of the URL of a
	// gateway that is no longer there. They may be nil, and must not block.
	Pushed   func(Push)
	FellBack func(refused int, took time.Duration)
	Gone     func(url string)
	Log      *slog.Logger
}

// Driver implements the controller's Driver. Apply is for one goroutine; everything else is safe for concurrent use.
type Driver struct {
	o         Options
	labels    plan.Labels
	restarted chan struct{}
	readied   chan struct{}

	mu       sync.Mutex // guards what follows, and the fields of gateways
	gateways []*gateway // sorted by URL
	notices  []model.Problem
	last     *model.Model
	leading  bool
	verified time.Time

	// What follows belongs to Apply.
	generation uint64
	names      lastNames
	database   *database
	checker    plan.Checker         // of what a database is to hold
	documents  map[string]*document // by URL
	drafts     map[string]*draft    // by likeness
}

// New makes a driver that has not spoken with anybody yet.
func New(o Options) *Driver {
	o.WatchEvery, o.VerifyEvery = cmp.Or(o.WatchEvery, 3*time.Second), cmp.Or(o.VerifyEvery, 10*time.Minute)
	o.RetryEvery = cmp.Or(o.RetryEvery, 10*time.Minute)
	o.Patience, o.LookPatience = cmp.Or(o.Patience, 5*time.Second), cmp.Or(o.LookPatience, 5*time.Second)
	if o.Leads == nil {
		o.Leads = func() bool { return true }
	}
	if o.Pushed == nil {
		o.Pushed = func(Push) {}
	}
	if o.FellBack == nil {
		o.FellBack = func(int, time.Duration) {}
	}
	if o.Gone == nil {
		o.Gone = func(string) {}
	}
	return &Driver{
		o: o, labels: plan.Labels{Selector: o.Tag, Key: o.Key}, restarted: make(chan struct{}, 1), readied: make(chan struct{}, 1),
		documents: map[string]*document{}, drafts: map[string]*draft{},
	}
}

// Restarted sends a value when a gateway is owed a push, or a look.
func (d *Driver) Restarted() <-chan struct{} { return d.restarted }

// Notices are what the gateways refused and what could not be translated, by the objects' owners.
func (d *Driver) Notices() []model.Problem {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.notices)
}

// Apply brings the model into force on all gateways that answer. What a gateway refuses becomes a notice and is no error; an error says that
// something is to be tried again. A replica that does not lead does nothing.
func (d *Driver) Apply(ctx context.Context, m *model.Model) (model.Change, error) {
	begin := time.Now()
	ready, err := d.awaitReady(ctx)
	if err != nil {
		return model.Change{}, err
	}
	d.remember(m)
	if !d.writes(ready[0]) {
		d.database, d.documents, d.drafts = nil, map[string]*document{}, map[string]*draft{}
		d.names.forget()
		return model.Change{}, nil
	}
	var change model.Change
	var problems []model.Problem
	if ready[0].about.Database {
		change, problems, err = d.applyDatabase(ctx, ready[0], m)
	} else {
		change, problems, err = d.applyDocuments(ctx, ready, m)
	}
	d.note(problems)
	if change.Set+change.Deleted > 0 {
		d.generation++
	}
	change.Generation, change.Took = d.generation, time.Since(begin)
	return change, err
}

// remember keeps the model for those who ask what is wanted.
func (d *Driver) remember(m *model.Model) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last != nil && len(d.last.Hosts) > 1 && len(m.Hosts) <= 1 {
		d.o.Log.Warn("the model has no hosts any more, so the gateways are emptied", "before", len(d.last.Hosts))
	}
	d.last = m
}

func (d *Driver) note(problems []model.Problem) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notices = model.SortProblems(problems)
}

// writes tells whether it is for this replica to write.
func (d *Driver) writes(g *gateway) bool {
	return d.o.Own && !g.about.Database || d.o.Leads()
}

// owed asks for another call of Apply.
func (d *Driver) owed() {
	select {
	case d.restarted <- struct{}{}:
	default:
	}
}

// awaitReady gives the gateways that answer, of one mode and flavor; the first decides.
func (d *Driver) awaitReady(ctx context.Context) ([]*gateway, error) {
	timeout := time.After(d.o.Patience)
	for {
		if ready := d.ready(); len(ready) > 0 {
			return ready, nil
		}
		select {
		case <-d.readied:
		case <-timeout:
			return nil, d.nobody()
		case <-ctx.Done():
			return nil, d.nobody()
		}
	}
}

// nobody says why no gateway can be driven.
func (d *Driver) nobody() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	errs := []error{errors.New("no Kong Gateway answers")}
	for _, g := range d.gateways {
		if g.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", g.endpoint.URL, g.err))
		}
	}
	return errors.Join(errs...)
}
