// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// Verb is what an operation does.
type Verb uint8

// The verbs.
const (
	Create Verb = iota
	Update
	Delete
	// Connect gives a route its service, once the plugins that decide who may pass are there.
	Connect
	// Park gives up a unique value that another entity is waiting for, for as long as the round takes.
	Park
)

// String names the verb.
func (v Verb) String() string { return [...]string{"create", "update", "delete", "connect", "park"}[v] }

// Operation is one request to a gateway.
type Operation struct {
	Verb   Verb
	Kind   *entity.Kind
	ID     string
	Parent string // see [Held]
	// Entity is the wanted one, nil for a delete. Tags are those that it is written with.
	Entity entity.Entity
	Tags   []string
	// Member is the consumer of a membership that ends.
	Member string
	Body   []byte
	// After are the operations that must have been carried out before, Behind those that must be over, whatever came of them.
	After, Behind []*Operation
	// Refused is why the gateway did not take the same thing before, or "": it is not tried again.
	Refused string
}

// String says what is done to what.
func (o *Operation) String() string {
	name := o.ID
	if o.Entity != nil {
		name = entity.Name(o.Entity)
	}
	return fmt.Sprintf("%s %s %s", o.Verb, o.Kind.Singular, name)
}

// Result is the entity as it is held after the operation; nil when it is gone.
func (o *Operation) Result() *Held {
	if o.Verb == Delete {
		return nil
	}
	h := HoldEntity(o.Entity, o.Tags)
	if h.Stale = o.Verb == Park; !h.Stale && Print(o.Tags) != "" {
		h.of = o.Entity
	}
	return h
}

// bytesHaveService tells whether the body of a route names a service.
func bytesHaveService(body []byte) bool {
	var fields struct {
		Service any `json:"service"`
	}
	return json.Unmarshal(body, &fields) == nil && fields.Service != nil
}

// Diff gives the operations that turn what is held into what is wanted, each after those that it waits for. Refused are fingerprints that the gateway
// did not take, with the reasons, by place.
//
// When the inventory is settled only what differs from the state that it agrees with is looked at.
func Diff(held *Inventory, wanted *entity.State, labels Labels, refused map[entity.Place]Refusal) []*Operation {
	d := &diff{held: held, labels: labels, refused: refused, of: map[entity.Place]*Operation{}}
	settled := held.settled
	if settled == nil || !d.compareChanges(settled, wanted) {
		d.compareAll(wanted)
	}
	if len(d.operations) > 0 {
		d.order()
	} else {
		held.Settle()
	}
	return d.operations
}

// compareChanges compares what is wanted otherwise than in the state that all that is held agrees with. It gives up when something is to be adopted,
// as then other entities may have to refer to it by another id.
func (d *diff) compareChanges(settled, wanted *entity.State) bool {
	changes := entity.Changes(settled, wanted)
	d.wanted = wanted.At
	for _, c := range changes {
		if c.Entity != nil && d.held.At(c.Place) == nil && adoptable(c.Entity, d.held, d.wanted) {
			return false
		}
	}
	d.held.settled, d.held.pending = nil, wanted
	var gone []*Held
	for _, c := range changes {
		if c.Entity != nil {
			d.compare(c.Entity)
		} else if h := d.held.At(c.Place); h != nil {
			gone = append(gone, h)
		}
	}
	d.deletes(gone)
	return true
}

// compareAll compares all that is wanted with all that is held.
func (d *diff) compareAll(wanted *entity.State) {
	entities := adopt(wanted.Entities, d.held)
	byPlace := make(map[entity.Place]entity.Entity, len(entities))
	for _, e := range entities {
		byPlace[entity.PlaceOf(e)] = e
	}
	d.wanted = func(place entity.Place) entity.Entity { return byPlace[place] }
	if d.held.settled, d.held.pending = nil, nil; slices.Equal(entities, wanted.Entities) {
		d.held.pending = wanted
	}
	for _, e := range entities {
		d.compare(e)
	}
	var gone []*Held
	for place, h := range d.held.held {
		if byPlace[place] == nil {
			gone = append(gone, h)
		}
	}
	d.deletes(gone)
}

// Refusal is a version of an entity that a gateway did not take; one without a fingerprint is a delete.
type Refusal struct{ Print, Reason string }

// diff is one call of Diff.
type diff struct {
	held       *Inventory
	labels     Labels
	refused    map[entity.Place]Refusal
	wanted     func(entity.Place) entity.Entity
	operations []*Operation
	// of has the operation on each entity, connects those that give a route its service.
	of       map[entity.Place]*Operation
	connects map[entity.Place]*Operation
}

func (d *diff) add(o *Operation) {
	d.operations = append(d.operations, o)
	place := entity.Place{Kind: o.Kind.Name, ID: o.ID}
	if o.Verb != Park && o.Verb != Connect {
		d.of[place] = o
	}
}

// compare adds what has to be done for one wanted entity.
func (d *diff) compare(e entity.Entity) {
	place := entity.PlaceOf(e)
	h := d.held.At(place)
	if h != nil && !h.Stale && h.of == e {
		return
	}
	tags := d.labels.Tags(e)
	if h != nil && !h.Stale && slices.Equal(h.Tags, tags) {
		h.of = e
		return
	}
	o := &Operation{Kind: e.Kind(), ID: place.ID, Entity: e, Tags: tags, Body: entity.Encode(e, entity.Body, tags)}
	if within := e.Kind().Within; within != "" {
		o.Parent = entity.Text(e, within)
	}
	if h != nil {
		o.Verb = Update
		if h.Parent != o.Parent {
			// A target cannot move: that its id is the same is chance.
			o.Parent = h.Parent
		}
		o.Body = d.updateBody(e, tags, o.Body)
	}
	if r, known := d.refused[place]; known && r.Print == Print(tags) {
		o.Refused = r.Reason
	}
	d.add(o)
}

// updateBody gives a body for PATCH where that is used: it also clears what the entity had and has no longer.
func (d *diff) updateBody(e entity.Entity, tags []string, body []byte) []byte {
	cleared := map[string]string{"cert_alt": "null", "key_alt": "null"}
	if e.Kind() == entity.Targets {
		cleared = map[string]string{"weight": "100"}
	}
	if e.Kind() != entity.Certificates && e.Kind() != entity.Targets {
		return body
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		panic(fmt.Sprintf("plan: body of %s is no JSON: %v", entity.Name(e), err))
	}
	for name, value := range cleared {
		if fields[name] == nil {
			fields[name] = json.RawMessage(value)
		}
	}
	out, err := json.Marshal(fields)
	if err != nil {
		panic(fmt.Sprintf("plan: body of %s: %v", entity.Name(e), err))
	}
	return out
}

// deletes adds the operations for what is no longer wanted; what goes with something else is not deleted singly.
func (d *diff) deletes(gone []*Held) {
	slices.SortFunc(gone, func(a, b *Held) int {
		return cmp.Or(cmp.Compare(a.Place.Kind, b.Place.Kind), cmp.Compare(a.Place.ID, b.Place.ID))
	})
	for _, h := range gone {
		if !d.goesWithParent(h) {
			o := &Operation{Verb: Delete, Kind: entity.KindNamed(h.Place.Kind), ID: h.Place.ID, Parent: h.Parent, Tags: h.Tags, Member: h.Values["consumer"]}
			if r, known := d.refused[h.Place]; known && r.Print == "" {
				o.Refused = r.Reason
			}
			d.add(o)
		}
	}
}

func (d *diff) goesWithParent(h *Held) bool {
	for parent := range h.parents {
		if d.held.At(parent) != nil && d.wanted(parent) == nil {
			return true
		}
	}
	return false
}
