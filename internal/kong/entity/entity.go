// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"reflect"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Entity is one thing that a gateway holds. All are pointers to the structs of this package.
type Entity interface {
	Kind() *Kind
	// Common gives what every entity has; it may be changed through the pointer while a state is being built.
	Common() *Meta
}

// Meta is what every entity has.
type Meta struct {
	// ID is a lower-case UUID; see [NewID].
	ID string `kong:"id"`
	// Tags are those of the source and of its author, without the selector and the fingerprint, which the sync adds. See [Tag].
	Tags []string `kong:"tags,set"`
	// Owner is the object for which the entity exists and Field the place in it; both are told when Kong refuses the entity.
	Owner model.Ref
	Field string
}

// Common gives m itself.
func (m *Meta) Common() *Meta { return m }

// Reference names another entity by id.
type Reference struct{ ID string }

// RefTo refers to an entity.
func RefTo(e Entity) *Reference { return &Reference{ID: e.Common().ID} }

// References gives the ids of what the entity refers to, by the name of the field; lists of ids are not among them.
func References(e Entity) map[string]string {
	refs := map[string]string{}
	for _, f := range layoutOf(e) {
		if !f.reference {
			continue
		}
		if r := f.referenceOf(e); r != nil && r.ID != "" {
			refs[f.name] = r.ID
		}
	}
	return refs
}

// Name gives the entity's name as people know it, or its id where it has none, or one that is secret.
func Name(e Entity) string {
	if field := e.Kind().Key; field != "" && !secret(e, field) {
		if text := Text(e, field); text != "" {
			return text
		}
	}
	return e.Common().ID
}

// secret tells whether people must not see a field.
func secret(e Entity, name string) bool {
	for _, f := range layoutOf(e) {
		if f.name == name {
			_, is := reflect.ValueOf(e).Elem().FieldByIndex(f.index).Interface().(model.Secret)
			return is
		}
	}
	return false
}
