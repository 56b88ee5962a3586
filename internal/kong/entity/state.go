// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// State is all that a gateway is to hold. It is not modified once it was handed on.
type State struct {
	// Entities are sorted by kind, in the order of [Kinds], and id, and the ids of a kind are unique; see [NewState].
	Entities []Entity
}

// NewState sorts the entities. Two of one kind with one id are a mistake of whoever made them.
func NewState(entities []Entity) *State {
	slices.SortStableFunc(entities, func(a, b Entity) int { return comparePlaces(PlaceOf(a), PlaceOf(b)) })
	return &State{Entities: entities}
}

// order is the place of each kind among [Kinds], by name.
var order = orderOfKinds()

func orderOfKinds() map[string]int {
	order := map[string]int{}
	for i, kind := range Kinds() {
		order[kind.Name] = i
	}
	return order
}

func comparePlaces(a, b Place) int {
	if a.Kind != b.Kind {
		return cmp.Compare(order[a.Kind], order[b.Kind])
	}
	return cmp.Compare(a.ID, b.ID)
}

// Change is what a place holds from now on; no entity empties it.
type Change struct {
	Place  Place
	Entity Entity
}

// With gives the state after changes of different places. It is the same state when there are none.
func (s *State) With(changes []Change) *State {
	if len(changes) == 0 {
		return s
	}
	slices.SortFunc(changes, func(a, b Change) int { return comparePlaces(a.Place, b.Place) })
	entities := make([]Entity, 0, len(s.Entities)+len(changes))
	rest := s.Entities
	for _, c := range changes {
		i, found := slices.BinarySearchFunc(rest, c.Place, func(e Entity, p Place) int { return comparePlaces(PlaceOf(e), p) })
		entities = append(entities, rest[:i]...)
		if found {
			i++
		}
		if c.Entity != nil {
			entities = append(entities, c.Entity)
		}
		rest = rest[i:]
	}
	return &State{Entities: append(entities, rest...)}
}

// At gives the entity at a place, or nil.
func (s *State) At(place Place) Entity {
	i, found := slices.BinarySearchFunc(s.Entities, place, func(e Entity, p Place) int { return comparePlaces(PlaceOf(e), p) })
	if !found {
		return nil
	}
	return s.Entities[i]
}

// Changes gives what turns one state into another: the places of which they do not have the very same entity.
func Changes(from, to *State) []Change {
	var changes []Change
	a, b := from.Entities, to.Entities
	for len(a) > 0 && len(b) > 0 {
		if a[0] == b[0] {
			a, b = a[1:], b[1:]
			continue
		}
		x, y := PlaceOf(a[0]), PlaceOf(b[0])
		c := comparePlaces(x, y)
		if c < 0 {
			changes = append(changes, Change{Place: x})
			a = a[1:]
			continue
		}
		changes = append(changes, Change{Place: y, Entity: b[0]})
		if b = b[1:]; c == 0 {
			a = a[1:]
		}
	}
	for _, e := range a {
		changes = append(changes, Change{Place: PlaceOf(e)})
	}
	for _, e := range b {
		changes = append(changes, Change{Place: PlaceOf(e), Entity: e})
	}
	return changes
}

// Fault is an entity that cannot be sent, and why.
type Fault struct {
	Entity Entity
	Reason string
}

// Problem gives the fault as one of the entity's owner.
func (f Fault) Problem(consequence string) model.Problem {
	m := f.Entity.Common()
	return model.Problem{
		Object: m.Owner, Field: m.Field, Reason: ReasonRefused,
		Message: fmt.Sprintf("Kong's %s %s is not in force as written: %s; %s", f.Entity.Kind().Singular, Name(f.Entity), f.Reason, consequence),
	}
}

// ReasonRefused is the reason of Problems with entities, by the name that the Kong Ingress Controller has for it in Events.
const ReasonRefused = "KongConfigurationApplyFailed"

// Check finds references to nothing and values that must be unique and are not: of two that share one, the later in the state is at fault. An
// entity that refers to a faulty one is not at fault itself.
func (s *State) Check() []Fault {
	present := map[Place]bool{}
	for _, e := range s.Entities {
		present[PlaceOf(e)] = true
	}
	var faults []Fault
	taken := map[string]Entity{}
	for _, e := range s.Entities {
		if reason := cmp.Or(dangling(e, present), clash(e, taken)); reason != "" {
			faults = append(faults, Fault{e, reason})
		}
	}
	return faults
}

// dangling says what the entity refers to and is not there, or "".
func dangling(e Entity, present map[Place]bool) string {
	for _, need := range Needs(e) {
		if !present[need] {
			return fmt.Sprintf("it refers to %s %s, which does not exist", KindNamed(need.Kind).Singular, need.ID)
		}
	}
	return ""
}

// clash says with whom the entity shares what must be unique, or "" and takes it.
func clash(e Entity, taken map[string]Entity) string {
	claims := Claims(e)
	for _, claim := range claims {
		if other := taken[claim]; other != nil {
			return fmt.Sprintf("%s of %s has the same %v", Name(other), other.Common().Owner, fieldsOfClaim(claim))
		}
	}
	for _, claim := range claims {
		taken[claim] = e
	}
	return ""
}

// Claims gives what must be unique of an entity, a text for each of the constraints of its kind of which a field is set.
func Claims(e Entity) []string {
	var claims []string
	for _, fields := range e.Kind().Unique {
		claim, set := e.Kind().Name, false
		for _, f := range fields {
			text := Text(e, f)
			set = set || text != ""
			claim += "\x00" + f + "\x00" + text
		}
		if set {
			claims = append(claims, claim)
		}
	}
	return claims
}

// fieldsOfClaim gives the names of the fields in a claim.
func fieldsOfClaim(claim string) []string {
	var fields []string
	for i, part := range strings.Split(claim, "\x00") {
		if i%2 == 1 {
			fields = append(fields, part)
		}
	}
	return fields
}
