// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/value"
)

// Group is a set of keys that serve one purpose.
type Group struct {
	Name string
	Doc  string
	Keys []Key // sorted by name
	// finish, if not nil, makes one thing of what the keys said, after all keys of all groups were read.
	finish func(p *parser)
}

// Key is one annotation: its name without the prefix, what is said about it, and what a value does.
type Key struct {
	Name string
	// Type says in words what a value is.
	Type string
	Spec
	apply func(e *Effect, text string) error
}

// Spec is what the registry says about a key besides its type.
type Spec struct {
	Scope Scope
	Risk  Risk
	// Min and Max bound numbers; Max 0 means no bound of its own.
	Min, Max int
	// Default is the effective value when neither the annotation nor Setting is given.
	Default string
	// Setting is the ConfigMap key that supplies the default; empty if there is none.
	Setting string
	// Example is a value that parses.
	Example string
	// Doc is for the reference: what the key does, in sentences.
	Doc string
	// Source is where the effect comes from: a directive, an RFC, a part of Fairway.
	Source string
	// NotYet marks a key that is read and checked, and shown with the policy of a route, without an effect on requests.
	NotYet bool
	// Own marks a key that the predecessor does not have; it stands behind OwnPrefix.
	Own bool
	// Alias is another name, looked at when the first is absent or empty.
	Alias string
	// Refused says that the admission webhook refuses an Ingress with a value that does not parse.
	Refused bool
	// Closes says that the routes of the Ingress are closed when the value does not parse, or the key cannot be honoured.
	Closes bool
	// OnService says that the key, though it is about routes, counts on Services too, for routes that lead there and say nothing.
	OnService bool
	// OnCanary says that the key counts on a canary too.
	OnCanary bool
	// TakesEmpty says that an empty value is a value, not an absent annotation.
	TakesEmpty bool
	// Shape says, for the reference, when the key costs a reload by a shape that was not in use before; empty for never.
	Shape string
	// Differs says, for the reference, where the key acts otherwise than in the predecessor; empty for nowhere.
	Differs string
}

// Scope is what a key has an effect on.
type Scope string

// The scopes.
const (
	Route   Scope = "route"   // each path of the Ingress
	Ingress Scope = "ingress" // the Ingress as a whole
	Host    Scope = "host"    // the whole host, also paths of other Ingresses
	Service Scope = "service" // the backend, wherever it is used
)

// Risk is how much harm a tenant could do with a key, as the predecessor rates it.
type Risk string

// The risks.
const (
	Low      Risk = "Low"
	Medium   Risk = "Medium"
	High     Risk = "High"
	Critical Risk = "Critical"
)

// rank orders risks; a word that is none counts as Low.
func (r Risk) rank() int {
	switch r {
	case Critical:
		return 3
	case High:
		return 2
	case Medium:
		return 1
	}
	return 0
}

// Full gives the key's name with the prefix that it has unless --annotations-prefix says otherwise.
func (k *Key) Full() string {
	if k.Own {
		return OwnPrefix + "/" + k.Name
	}
	return DefaultPrefix + "/" + k.Name
}

// Bool is a key whose values are Go's boolean literals.
func Bool(name string, spec Spec, set func(e *Effect, v bool)) Key {
	return Parsed(name, "boolean", spec, value.Bool, set)
}

// Int is a key whose values are whole numbers of at least spec.Min.
func Int(name string, spec Spec, set func(e *Effect, v int)) Key {
	return Parsed(name, "number", spec, func(text string) (int, error) { return parseInt(text, spec.Min) }, set)
}

// Seconds is a key whose values are whole seconds, at least one. More than spec.Max counts as spec.Max.
func Seconds(name string, spec Spec, set func(e *Effect, v time.Duration)) Key {
	return Parsed(name, "seconds", spec, func(text string) (time.Duration, error) {
		n, err := parseInt(text, 1)
		if spec.Max > 0 {
			n = min(n, spec.Max)
		}
		return time.Duration(n) * time.Second, err
	}, set)
}

// Within is a key whose values are whole numbers from spec.Min to spec.Max; words say in the reference of what.
func Within(name, words string, spec Spec, set func(e *Effect, v int)) Key {
	return Parsed(name, words, spec, value.NumberWithin(spec.Min, spec.Max), set)
}

// Time is a key whose values are times such as 500ms or a whole number of seconds.
func Time(name string, least, most time.Duration, spec Spec, set func(e *Effect, v time.Duration)) Key {
	return Parsed(name, "time", spec, value.DurationWithin(least, most), set)
}

// Size is a key whose values are bytes with an optional unit k, m or g.
func Size(name string, spec Spec, set func(e *Effect, v int64)) Key {
	return Parsed(name, "size", spec, value.Size, set)
}

// Option is one value of an Enum.
type Option[T any] struct {
	Text  string
	Value T
}

// Enum is a key with a fixed set of values, compared without regard to case and surrounding blanks.
func Enum[T any](name string, spec Spec, options []Option[T], set func(e *Effect, v T)) Key {
	var words []string
	for _, o := range options {
		words = append(words, o.Text)
	}
	return Parsed(name, "one of "+strings.Join(words, ", "), spec, func(text string) (T, error) {
		for _, o := range options {
			if strings.EqualFold(o.Text, strings.TrimSpace(text)) {
				return o.Value, nil
			}
		}
		var zero T
		return zero, fmt.Errorf("is none of %s", strings.Join(words, ", "))
	}, set)
}

// Parsed is a key whose values parse reads; words say in the reference what it takes.
func Parsed[T any](name, words string, spec Spec, parse func(text string) (T, error), set func(e *Effect, v T)) Key {
	return Key{Name: name, Type: words, Spec: spec, apply: func(e *Effect, text string) error {
		v, err := parse(text)
		if err != nil {
			return err
		}
		set(e, v)
		return nil
	}}
}

// closing wraps the error of a value that must close the route.
type closing struct{ error }

func (c closing) Unwrap() error { return c.error }

// closingHost wraps the error of a value that must close the hosts of the Ingress, if the leader is there, a key without which this one means nothing.
type closingHost struct {
	error
	leader string
}

// closingCanary wraps the error of a value without which a canary must not take requests.
type closingCanary struct{ error }
