// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

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

// Stub is the name of the upstream that stands in an empty document: a gateway without any entity never becomes ready.
const Stub = "kong"

// Document writes the declarative document for that version of Kong: flat collections, sorted by id, everything by id.
func (s *State) Document(version Version, form Form) []byte {
	var out bytes.Buffer
	format := "3.0"
	if !version.AtLeast(3, 0) {
		format = "2.1"
	}
	fmt.Fprintf(&out, `{"_format_version":%q`, format)
	entities := s.Entities
	if len(entities) == 0 {
		entities = []Entity{&Upstream{Meta: Meta{ID: NewID(Upstreams, Stub)}, Name: Stub}}
	}
	groups := map[*Kind][]Entity{}
	for _, e := range entities {
		groups[e.Kind()] = append(groups[e.Kind()], e)
	}
	kinds := Kinds()
	slices.SortFunc(kinds, func(a, b *Kind) int { return cmp.Compare(a.Name, b.Name) })
	for _, kind := range kinds {
		for i, e := range groups[kind] {
			if i == 0 {
				fmt.Fprintf(&out, ",\n%q:[\n", kind.Name)
			} else {
				out.WriteString(",\n")
			}
			encodeTo(&out, e, form, nil)
		}
		if len(groups[kind]) > 0 {
			out.WriteByte(']')
		}
	}
	out.WriteString("}\n")
	return out.Bytes()
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
	var keys []string
	for _, fields := range e.Kind().Unique {
		key, set := e.Kind().Name, false
		for _, f := range fields {
			text := Text(e, f)
			set = set || text != ""
			key += "\x00" + f + "\x00" + text
		}
		if !set {
			continue
		}
		if other := taken[key]; other != nil {
			return fmt.Sprintf("%s of %s has the same %v", Name(other), other.Common().Owner, fields)
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		taken[key] = e
	}
	return ""
}
