// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Group is a set of keys that serve one purpose.
type Group struct {
	Name string
	Doc  string
	Keys []Key // sorted by name
}

// Key is one setting.
type Key struct {
	Name string
	// Type says in words what a value is.
	Type string
	Spec
	apply func(d *draft, text string) error
}

// Spec is what the registry says about a key besides its type.
type Spec struct {
	// Min bounds numbers.
	Min int
	// Default is in force without the key; it parses, and gives what model.DefaultSettings says. "none" stands for nothing, which an empty value gives too.
	Default string
	// Example is a value that parses.
	Example string
	// Doc is for the reference.
	Doc string
	// Reload says that nginx reads its configuration again when the value changes.
	Reload bool
	// NotYet marks a key whose value is checked, but has no effect yet, without a Problem.
	NotYet bool
	// Closes says that every route is closed when the value does not parse, as it is a control.
	Closes   bool
	Harmless []string
	// Confidential keeps the value out of Problems.
	Confidential bool
	// With is another key at whose example alone this one has an effect; empty for none.
	With string
	// Instead marks a key without effect, and says what to do.
	Instead string
	// Own marks a key that the predecessor does not have.
	Own bool
	// Differs says what differs from the predecessor; empty for nothing worth telling.
	Differs string
	// Lacks is what a key with an implementation does not do yet, as a Problem says when the value is not a Harmless one; empty for nothing.
	Lacks string
}

// draft is the settings in the making, with what several keys say together.
type draft struct {
	model.Settings
	hsts           hsts
	auth           model.ExternalAuth
	waf, coreRules bool
	errors         model.Errors
	tracing        model.Tracing
	distrust       bool // of traces that clients send
	noSessionCache bool
	bind           bind
	log            logDraft
	status         statusFrom
}

// none is the Default of keys without one.
const none = "none"

type hsts struct {
	on, subdomains, preload bool
	maxAge                  int
}

// Bool is a key whose values are Go's boolean literals; empty is false.
func Bool(name string, spec Spec, set func(d *draft, v bool)) Key {
	return Parsed(name, "boolean", spec, parseBool, set)
}

// Int is a key whose values are whole numbers of at least spec.Min; empty is 0.
func Int(name string, spec Spec, set func(d *draft, v int)) Key {
	return Parsed(name, "number", spec, func(text string) (int, error) { return parseInt(text, spec.Min) }, set)
}

// Seconds is a key whose values are whole seconds, at least one.
func Seconds(name string, spec Spec, set func(d *draft, v time.Duration)) Key {
	return Parsed(name, "seconds", spec, parseSeconds, set)
}

// Enum is a key with a fixed set of values.
func Enum[T any](name string, spec Spec, words []string, values []T, set func(d *draft, v T)) Key {
	return Parsed(name, "one of "+strings.Join(words, ", "), spec, func(text string) (T, error) {
		for i, word := range words {
			if word == text {
				return values[i], nil
			}
		}
		var zero T
		return zero, fmt.Errorf("is none of %s", strings.Join(words, ", "))
	}, set)
}

// remark is an error about a part of a value whose other parts are in force.
type remark string

func (r remark) Error() string { return string(r) }

// Parsed is a key whose values parse reads; words say in the reference what it takes.
func Parsed[T any](name, words string, spec Spec, parse func(text string) (T, error), set func(d *draft, v T)) Key {
	return Key{Name: name, Type: words, Spec: spec, apply: func(d *draft, text string) error {
		v, err := parse(text)
		var partly remark
		if err == nil || errors.As(err, &partly) {
			set(d, v)
		}
		return err
	}}
}
