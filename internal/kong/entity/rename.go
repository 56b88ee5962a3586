// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"reflect"
	"slices"
)

// Renamed gives the entity with other ids, its own and those it refers to; the entity itself where none differ. The function gets the name of a kind
// and an id.
func Renamed(e Entity, id func(kind, id string) string) Entity {
	var c reflect.Value
	change := func() reflect.Value {
		if !c.IsValid() {
			c = reflect.New(reflect.TypeOf(e).Elem())
			c.Elem().Set(reflect.ValueOf(e).Elem())
		}
		return c.Elem()
	}
	if other := id(e.Kind().Name, e.Common().ID); other != e.Common().ID {
		change().FieldByName("ID").SetString(other)
	}
	for _, f := range layoutOf(e) {
		key := e.Kind().To(f.name)
		if key == nil {
			continue
		}
		if ids := listed(e, f.name); key.Many && len(ids) > 0 {
			others := make([]string, len(ids))
			for i := range ids {
				others[i] = id(key.Kind, ids[i])
			}
			if !slices.Equal(ids, others) {
				change().FieldByIndex(f.index).Set(reflect.ValueOf(others))
			}
			continue
		}
		if r := f.referenceOf(e); f.reference && r != nil {
			if other := id(key.Kind, r.ID); other != r.ID {
				change().FieldByIndex(f.index).Set(reflect.ValueOf(&Reference{ID: other}))
			}
		}
	}
	if !c.IsValid() {
		return e
	}
	return c.Interface().(Entity)
}

// Without gives the entity without the reference in a field; one that has none is given as it is.
func Without(e Entity, name string) Entity {
	for _, f := range layoutOf(e) {
		if f.name != name || !f.reference || f.referenceOf(e) == nil {
			continue
		}
		c := reflect.New(reflect.TypeOf(e).Elem())
		c.Elem().Set(reflect.ValueOf(e).Elem())
		c.Elem().FieldByIndex(f.index).SetZero()
		return c.Interface().(Entity)
	}
	return e
}

// Place names an entity among all: the name of its kind and its id.
type Place struct{ Kind, ID string }

// PlaceOf gives the place of an entity.
func PlaceOf(e Entity) Place { return Place{e.Kind().Name, e.Common().ID} }

// Needs gives the places of all that the entity refers to, lists of ids among them, in the order of the fields in its kind.
func Needs(e Entity) []Place {
	var places []Place
	for _, key := range e.Kind().Foreign {
		ids := listed(e, key.Field)
		if !key.Many {
			ids = []string{Text(e, key.Field)}
		}
		for _, id := range ids {
			if id != "" {
				places = append(places, Place{key.Kind, id})
			}
		}
	}
	return places
}
