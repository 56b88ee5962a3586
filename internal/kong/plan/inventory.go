// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// Inventory is what a gateway holds of ours. It serves one goroutine at a time.
type Inventory struct {
	held map[entity.Place]*Held
	// owners are those that have what must be unique, by claim; more than one only where we are mistaken. Children go with what they refer to.
	owners   map[string][]*Held
	children map[entity.Place][]*Held
	// settled is a state with which all that is held agrees, nil when there is none that we know of; pending is one with which it will when the
	// operations of the last plan have been carried out.
	settled, pending *entity.State
}

// NewInventory notes what a gateway holds.
func NewInventory(held map[entity.Place]*Held) *Inventory {
	v := &Inventory{held: make(map[entity.Place]*Held, len(held)), owners: map[string][]*Held{}, children: map[entity.Place][]*Held{}}
	for _, h := range held {
		v.Put(h)
	}
	return v
}

// At gives what is held at a place, or nil.
func (v *Inventory) At(place entity.Place) *Held { return v.held[place] }

// Put notes an entity in the place of what was there.
func (v *Inventory) Put(h *Held) {
	v.take(h.Place)
	v.held[h.Place] = h
	for _, c := range claims(entity.KindNamed(h.Place.Kind), h.Values) {
		v.owners[c] = append(v.owners[c], h)
	}
	for parent := range h.parents {
		v.children[parent] = append(v.children[parent], h)
	}
}

// Remove notes that an entity is gone, and with it all that goes with it.
func (v *Inventory) Remove(place entity.Place) {
	v.take(place)
	for _, h := range slices.Clone(v.children[place]) {
		v.Remove(h.Place)
	}
}

// Settle notes that the operations of the last plan have all been carried out.
func (v *Inventory) Settle() {
	if v.pending != nil {
		v.settled, v.pending = v.pending, nil
	}
}

func (v *Inventory) take(place entity.Place) {
	h := v.held[place]
	if h == nil {
		return
	}
	delete(v.held, place)
	for _, c := range claims(entity.KindNamed(place.Kind), h.Values) {
		without(v.owners, c, h)
	}
	for parent := range h.parents {
		without(v.children, parent, h)
	}
}

func without[K comparable](table map[K][]*Held, key K, h *Held) {
	rest := slices.DeleteFunc(table[key], func(o *Held) bool { return o == h })
	if table[key] = rest; len(rest) == 0 {
		delete(table, key)
	}
}

// owner gives who has what must be unique, or nil.
func (v *Inventory) owner(claim string) *Held {
	var first *Held
	for _, h := range v.owners[claim] {
		if first == nil || h.Place.ID < first.Place.ID {
			first = h
		}
	}
	return first
}

// parents goes over what the entity goes with.
func (h *Held) parents(yield func(entity.Place) bool) {
	for _, key := range entity.KindNamed(h.Place.Kind).Foreign {
		if id := h.Values[key.Field]; key.Cascade && id != "" && !yield(entity.Place{Kind: key.Kind, ID: id}) {
			return
		}
	}
}
