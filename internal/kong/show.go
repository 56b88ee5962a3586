// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Shown is what people are shown of gateways.
type Shown struct {
	// Document is a declarative document without what is secret; nil where changes are shown.
	Document []byte
	// Changes are what would change, by gateway where there is no database, kind and name.
	Changes []plan.Change
}

// Print writes it as text.
func (s Shown) Print(w io.Writer) {
	if s.Document != nil {
		_, _ = w.Write(s.Document) // whoever reads has gone
		return
	}
	if len(s.Changes) == 0 {
		fmt.Fprintln(w, "nothing would change")
	}
	for _, c := range s.Changes {
		fmt.Fprintln(w, c)
	}
}

// JSON gives it for programs: the document, or a list of changes.
func (s Shown) JSON() []byte {
	if s.Document != nil {
		return s.Document
	}
	text, err := json.Marshal(append([]plan.Change{}, s.Changes...))
	if err != nil {
		panic(fmt.Sprintf("kong: changes: %v", err))
	}
	return append(text, '\n')
}

// errNoModel is for those who ask too early.
var errNoModel = errors.New("no gateway has answered yet, or nothing was built")

// now gives what is wanted at this moment, and the gateways.
func (d *Driver) now() (*model.Model, []*gateway, error) {
	ready := d.ready()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil || len(ready) == 0 {
		return nil, nil, errNoModel
	}
	return d.last, ready, nil
}

// State gives what the first gateway is to hold.
func (d *Driver) State() (Shown, error) {
	m, ready, err := d.now()
	if err != nil {
		return Shown{}, err
	}
	state, _ := d.o.Translate(m, ready[0].about)
	state = d.names.shown(m, state)
	return Shown{Document: state.Document(ready[0].about.Version, entity.Redacted)}, nil
}

// Diff compares what the gateways hold with what they should, in depth. Nothing is changed.
func (d *Driver) Diff(ctx context.Context) (Shown, error) {
	m, ready, err := d.now()
	if err != nil {
		return Shown{}, err
	}
	shown := Shown{Changes: []plan.Change{}}
	if ready[0].about.Database {
		ready = ready[:1]
	}
	for _, g := range ready {
		state, _ := d.o.Translate(m, g.about)
		state = d.names.shown(m, state)
		wanted, faults := plan.Sound(state)
		if g.about.Database {
			wanted, faults = d.sound(state, plan.Sound)
		}
		changes, err := d.differing(ctx, g, wanted)
		if err != nil {
			return Shown{}, fmt.Errorf("gateway %s: %w", g.endpoint.URL, err)
		}
		for _, f := range faults {
			changes = append(changes, plan.Change{
				Verb: "leave out", Kind: f.Entity.Kind().Singular, Name: entity.Name(f.Entity), ID: f.Entity.Common().ID, Reason: f.Reason,
			})
		}
		for i := range changes {
			c := &changes[i]
			c.Reason = cmp.Or(c.Reason, g.refusals[entity.Place{Kind: collectionOf(c.Kind), ID: c.ID}])
			if !g.about.Database {
				c.Gateway = g.endpoint.URL
			}
		}
		slices.SortStableFunc(changes, func(a, b plan.Change) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
		shown.Changes = append(shown.Changes, changes...)
	}
	return shown, nil
}

func collectionOf(singular string) string {
	for _, kind := range entity.Kinds() {
		if kind.Singular == singular {
			return kind.Name
		}
	}
	return ""
}

func (d *Driver) differing(ctx context.Context, g *gateway, wanted *entity.State) ([]plan.Change, error) {
	if g.about.Database {
		return d.differingDatabase(ctx, g, wanted)
	}
	return d.differingDocument(ctx, g, wanted)
}

// differingDatabase lists the operations of a sync, with the fields that they would change.
func (d *Driver) differingDatabase(ctx context.Context, g *gateway, wanted *entity.State) ([]plan.Change, error) {
	x := newDumping(d, g)
	x.records = map[entity.Place]admin.Record{}
	x.look(wanted)
	if err := x.all(ctx); err != nil {
		return nil, err
	}
	var changes []plan.Change
	for _, o := range plan.Diff(plan.NewInventory(x.held), wanted, d.labels, nil) {
		c := plan.Change{Verb: o.Verb.String(), Kind: o.Kind.Singular, Name: o.ID, ID: o.ID}
		record := x.records[entity.Place{Kind: o.Kind.Name, ID: o.ID}]
		switch {
		case o.Entity != nil:
			c.Name = entity.Name(o.Entity)
		case record != nil && o.Kind != entity.KeyAuths: // whose name is a secret
			c.Name = cmp.Or(record.Text(o.Kind.Key), o.ID)
		}
		if o.Verb == plan.Update {
			c.Fields = plan.Fields(o.Entity, record, false)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// differingDocument compares entity by entity what a gateway without a database holds: what it took, or what it says when that is something else.
func (d *Driver) differingDocument(ctx context.Context, g *gateway, wanted *entity.State) ([]plan.Change, error) {
	hash, err := g.client.Hash(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case hash == hashOf(wanted.Document(g.about.Version, entity.Flat)):
		return nil, nil
	case hash == admin.NoHash:
		return plan.Compare(&entity.State{}, wanted, true), nil
	case g.took != nil && hash == g.took.hash:
		return plan.Compare(g.took.state, wanted, true), nil
	}
	document, err := g.client.Document(ctx)
	if err != nil {
		return nil, err
	}
	held, err := entity.ReadDocument(document)
	if err != nil {
		return nil, err
	}
	changes := plan.Compare(held, readable(wanted), false)
	if len(changes) == 0 {
		changes = append(changes, plan.Change{Verb: "load", Kind: "the whole configuration", Name: "as fields differ that are not written here"})
	}
	return changes, nil
}

// readable is a state without what gateways do not show as they were given it.
func readable(s *entity.State) *entity.State {
	var rest []entity.Entity
	for _, e := range s.Entities {
		if !entity.Hashed(e) {
			rest = append(rest, e)
		}
	}
	return &entity.State{Entities: rest}
}
