// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// object is a JSON object: of a request, of an entity, of errors.
type object = map[string]any

// shape is the type of a field.
type shape uint8

const (
	text shape = iota
	integer
	number
	boolean
	array
	set
	mapping
	record
	reference
	free // a record without a schema
)

// field is one field of a schema, and what it may hold.
type field struct {
	name     string
	is       shape
	required bool
	fallback any // what an unset field becomes
	among    []any
	between  []float64           // lowest and highest
	check    func(string) string // gives what is wrong with a text
	keys     func(string) string // the same for the keys of a mapping
	of       *field              // what arrays, sets and mappings hold
	fields   []field             // of a record
	to       string              // the collection of a reference
	cascade  bool                // whether the entity goes with what it refers to
	unique   bool
	random   bool // made up when unset
	since    version
}

// fill gives unset fields their default, or null, as far as the version knows them.
func fill(fields []field, o object, v version) object {
	filled := maps.Clone(o)
	if filled == nil {
		filled = object{}
	}
	for _, f := range fields {
		if !v.atLeast(f.since) {
			continue
		}
		value := filled[f.name]
		if value == nil {
			value = copied(f.fallback)
		}
		switch {
		case f.is == record && (value != nil || f.required):
			if members, ok := orEmpty(value).(object); ok {
				value = fill(f.fields, members, v)
			}
		case f.is == set && value != nil:
			value = unique(value)
		}
		filled[f.name] = value
	}
	return filled
}

func orEmpty(value any) any {
	if value == nil {
		return object{}
	}
	return value
}

// unique drops duplicates from a list, if it is one.
func unique(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	kept := []any{}
	for _, v := range list {
		if !slices.ContainsFunc(kept, func(k any) bool { return encoded(k) == encoded(v) }) {
			kept = append(kept, v)
		}
	}
	return kept
}

// validate finds what is wrong with a record.
func validate(fields []field, o object, v version) object {
	errs := object{}
	known := map[string]bool{}
	for _, f := range fields {
		if !v.atLeast(f.since) {
			continue
		}
		known[f.name] = true
		if complaint := f.validate(o[f.name], v); complaint != nil {
			errs[f.name] = complaint
		}
	}
	for name := range o {
		if !known[name] {
			errs[name] = "unknown field"
		}
	}
	return errs
}

// validate says what is wrong with a value: nil, a text, or an object of texts.
func (f *field) validate(value any, v version) any {
	if value == nil {
		if f.required {
			return "required field missing"
		}
		return nil
	}
	switch f.is {
	case text:
		return f.validateText(value)
	case integer, number:
		return f.validateNumber(value)
	case boolean:
		if _, ok := value.(bool); !ok {
			return "expected a boolean"
		}
	case array, set:
		return f.validateList(value, v)
	case mapping:
		return f.validateMapping(value, v)
	case record:
		members, ok := value.(object)
		if !ok {
			return "expected a record"
		}
		if errs := validate(f.fields, members, v); len(errs) > 0 {
			return errs
		}
	case reference:
		return validateReference(value)
	case free:
		if _, ok := value.(object); !ok {
			return "expected a record"
		}
	}
	return nil
}

func (f *field) validateText(value any) any {
	s, ok := value.(string)
	switch {
	case !ok:
		return "expected a string"
	case f.among != nil && !slices.Contains(f.among, value):
		return "expected one of: " + joined(f.among)
	case s == "" && f.among == nil:
		return "length must be at least 1"
	case f.check != nil:
		if complaint := f.check(s); complaint != "" {
			return complaint
		}
	}
	return nil
}

func (f *field) validateNumber(value any) any {
	n, ok := value.(float64)
	switch {
	case !ok:
		return map[shape]string{integer: "expected an integer", number: "expected a number"}[f.is]
	case f.is == integer && n != math.Trunc(n):
		return "expected an integer"
	case f.between != nil && (n < f.between[0] || n > f.between[1]):
		return fmt.Sprintf("value should be between %v and %v", f.between[0], f.between[1])
	case f.among != nil && !slices.Contains(f.among, value):
		return "expected one of: " + joined(f.among)
	}
	return nil
}

func (f *field) validateList(value any, v version) any {
	list, ok := value.([]any)
	if !ok {
		if empty, isObject := value.(object); isObject && len(empty) == 0 {
			return nil // Lua cannot tell {} from []
		}
		return map[shape]string{array: "expected an array", set: "expected a set"}[f.is]
	}
	errs := object{}
	for i, element := range list {
		if complaint := f.of.validate(element, v); complaint != nil {
			errs[fmt.Sprint(i+1)] = complaint
		}
	}
	return orNil(errs)
}

func (f *field) validateMapping(value any, v version) any {
	members, ok := value.(object)
	if !ok {
		return "expected a map"
	}
	errs := object{}
	for key, member := range members {
		if f.keys != nil {
			if complaint := f.keys(key); complaint != "" {
				errs[key] = complaint
				continue
			}
		}
		if complaint := f.of.validate(member, v); complaint != nil {
			errs[key] = complaint
		}
	}
	return orNil(errs)
}

func validateReference(value any) any {
	members, ok := value.(object)
	if !ok {
		return "expected a record"
	}
	id, named := members["id"]
	if !named {
		return object{"id": "missing primary key"}
	}
	if s, _ := id.(string); !isUUID(s) {
		return object{"id": "expected a valid UUID"}
	}
	return nil
}

func orNil(errs object) any {
	if len(errs) == 0 {
		return nil
	}
	return errs
}

func joined(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}

// merge applies a PATCH: records merge, everything else is replaced, null clears.
func merge(old, change object) object {
	merged := maps.Clone(old)
	for name, value := range change {
		members, isObject := value.(object)
		before, wasObject := merged[name].(object)
		if isObject && wasObject {
			merged[name] = merge(before, members)
			continue
		}
		merged[name] = value
	}
	return merged
}
