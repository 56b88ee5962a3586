// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
	"github.com/fairway-ingress/fairway/internal/model"
)

// database is what we know of one that gateways share. It is there from a dump until something makes us doubt.
type database struct {
	held *plan.Inventory
	at   time.Time
	// refused are versions of entities that Kong did not take since then; they are tried again after a while.
	refused map[entity.Place]plan.Refusal
	since   time.Time
}

// writers bounds the operations under way; the client bounds requests by a flag of the admin.
const writers = 64

// rounds bounds how often a plan is made anew because a plugin was refused without which a route must not be open.
const rounds = 4

// applyDatabase writes the difference between what is held and what is wanted.
func (d *Driver) applyDatabase(ctx context.Context, g *gateway, m *model.Model) (model.Change, []model.Problem, error) {
	begin := time.Now()
	state, problems := d.o.Translate(m, g.about)
	state, err := d.keepNames(ctx, []*gateway{g}, m, state)
	if err != nil {
		return model.Change{}, problems, err
	}
	wanted, faults := d.sound(state, d.checker.Sound)
	push := Push{Gateway: g.endpoint.URL, Database: true}
	if err := d.know(ctx, g, wanted); err != nil {
		push.Took, push.Err = time.Since(begin), err
		d.o.Pushed(push)
		if passing(err) {
			d.lost(g, err)
		}
		return model.Change{}, problems, fmt.Errorf("read what Kong holds: %w", err)
	}
	r := &round{driver: d, database: d.database, gateway: g, push: &push}
	refused, err := r.run(ctx, wanted)
	faults = slices.Concat(faults, refused)
	v := &variant{version: g.about.Version, state: wanted}
	for _, f := range faults {
		v.faults = append(v.faults, fault{f, consequence(f)})
		problems = append(problems, f.Problem(consequence(f)))
	}
	push.Took, push.Err, push.Broken, push.Refused = time.Since(begin), err, len(faults), byKind(v.faults)
	if push.Requests > 0 || err != nil {
		d.o.Pushed(push)
	}
	d.wrote(g, v, err)
	problems = append(problems, r.waiting...)
	return model.Change{Set: push.Set, Deleted: push.Deleted, Bytes: push.Bytes}, problems, err
}

// checkFunc leaves out of a state what cannot be sent.
type checkFunc func(*entity.State) (*entity.State, []entity.Fault)

// sound gives what can be sent to a database. CA certificates are needed where others refer to them, even if they are not ours to write.
func (d *Driver) sound(state *entity.State, check checkFunc) (*entity.State, []entity.Fault) {
	wanted, faults := check(state)
	if !d.o.SkipCACertificates {
		return wanted, faults
	}
	isCA := func(e entity.Entity) bool { return e.Kind() == entity.CACertificates }
	return &entity.State{Entities: slices.DeleteFunc(slices.Clone(wanted.Entities), isCA)}, faults
}

// wrote notes what a database was given.
func (d *Driver) wrote(g *gateway, v *variant, err error) {
	if err == nil {
		d.holds(g, v)
	}
	var errs []error
	for _, f := range v.faults {
		errs = append(errs, fmt.Errorf("%s %s: %s", f.Entity.Kind().Singular, entity.Name(f.Entity), f.Reason))
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		d.failed(g, v, err)
	}
}

func passing(err error) bool {
	failure := new(admin.Error)
	return errors.As(err, &failure) && failure.Class.Passing()
}

// consequence says what happens now that an entity is refused.
func consequence(f entity.Fault) string {
	if p, ok := f.Entity.(*entity.Plugin); ok && plan.Guards(p) {
		return "what it should protect is not opened: its last good form stays in force, or requests are answered with 503"
	}
	return "its last good form stays in force, if there is one"
}

// know sees to it that what Kong holds is known.
func (d *Driver) know(ctx context.Context, g *gateway, wanted *entity.State) error {
	if d.database != nil && time.Since(d.database.at) < d.o.VerifyEvery {
		return nil
	}
	old := d.database
	d.database = nil
	held, drifted, err := d.dump(ctx, g, wanted, d.o.ReverseSync)
	if err != nil {
		return err
	}
	for _, what := range drifted {
		d.o.Log.Info("an entity was changed by hand and is repaired", "entity", what)
	}
	now := time.Now()
	d.database = &database{held: plan.NewInventory(held), at: now, refused: map[entity.Place]plan.Refusal{}, since: now}
	if old != nil && time.Since(old.since) < d.o.RetryEvery {
		d.database.refused, d.database.since = old.refused, old.since
	}
	d.mu.Lock()
	d.verified = now
	d.mu.Unlock()
	return nil
}

// dump reads all that has our tag, and, in depth, names what was changed by hand.
func (d *Driver) dump(ctx context.Context, g *gateway, wanted *entity.State, deep bool) (map[entity.Place]*plan.Held, []string, error) {
	x := newDumping(d, g)
	if deep {
		x.look(wanted)
	}
	err := x.all(ctx)
	return x.held, x.drifted, err
}

// all reads every collection that there is.
func (x *dumping) all(ctx context.Context) error {
	d, g := x.driver, x.gateway
	var kinds []func() error
	for _, kind := range entity.Kinds() {
		if kind.Path == "" || !g.about.Has(kind) || kind == entity.CACertificates && d.o.SkipCACertificates {
			continue
		}
		kinds = append(kinds, func() error { return x.list(ctx, kind, "") })
	}
	if err := together(kinds); err != nil {
		return err
	}
	var below []func() error
	for _, place := range slices.Collect(maps.Keys(x.held)) {
		switch place.Kind {
		case entity.Upstreams.Name:
			below = append(below, func() error { return x.list(ctx, entity.Targets, place.ID) })
		case entity.ConsumerGroups.Name:
			below = append(below, func() error { return x.list(ctx, entity.Memberships, place.ID) })
		}
	}
	return together(below)
}

// together runs all, so many at a time, and gives the first error.
func together(all []func() error) error {
	var wait sync.WaitGroup
	errs := make([]error, len(all))
	free := make(chan struct{}, writers)
	for i, f := range all {
		free <- struct{}{}
		wait.Go(func() {
			errs[i] = f()
			<-free
		})
	}
	wait.Wait()
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
}

// dumping is one dump.
type dumping struct {
	driver  *Driver
	gateway *gateway
	wanted  map[entity.Place]entity.Entity // to be compared in depth

	mu      sync.Mutex // guards what follows
	held    map[entity.Place]*plan.Held
	drifted []string
	// records are all that was read, kept unless it is nil.
	records map[entity.Place]admin.Record
}

func newDumping(d *Driver, g *gateway) *dumping {
	return &dumping{driver: d, gateway: g, held: map[entity.Place]*plan.Held{}, wanted: map[entity.Place]entity.Entity{}}
}

// look has what is read compared with what is wanted, in depth.
func (x *dumping) look(wanted *entity.State) {
	for _, e := range wanted.Entities {
		x.wanted[entity.PlaceOf(e)] = e
	}
}

func (x *dumping) list(ctx context.Context, kind *entity.Kind, parent string) error {
	tag := x.driver.o.Tag
	records, err := x.gateway.client.List(ctx, kind, parent, tag)
	failure := new(admin.Error)
	if errors.As(err, &failure) && failure.Class == admin.Gone {
		return nil // the plugin of a credential is not loaded, or the upstream went meanwhile
	}
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, record := range records {
		tags := record.Tags()
		if !slices.Contains(tags, tag) {
			continue // a target or a consumer that somebody else put into our upstream or group
		}
		if kind == entity.Memberships {
			m := entity.NewMembership(parent, record.ID())
			x.held[entity.PlaceOf(m)] = plan.HoldEntity(m, x.driver.labels.Tags(m))
			continue
		}
		h := plan.Hold(kind, record.Text, tags)
		if e := x.wanted[h.Place]; e != nil {
			if field := plan.Drifted(e, record); field != "" {
				h.Stale = true
				x.drifted = append(x.drifted, kind.Singular+" "+entity.Name(e)+": "+field)
			}
		}
		x.held[h.Place] = h
		if x.records != nil {
			x.records[h.Place] = record
		}
	}
	return nil
}
