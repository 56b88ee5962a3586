// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Form is what JSON is written for.
type Form uint8

const (
	// Body is for the Admin API: references are {"id": …}.
	Body Form = iota
	// Flat is for declarative documents: references are bare ids, which every version of Kong takes.
	Flat
	// Redacted is Flat without what is secret, for people.
	Redacted
)

// Encode writes the entity as JSON with sorted keys. Zero fields are left out. Tags are written as given, in place of the entity's own, when more is
// not nil.
func Encode(e Entity, form Form, tags []string) []byte {
	var out bytes.Buffer
	encodeTo(&out, e, form, tags)
	return out.Bytes()
}

func encodeTo(out *bytes.Buffer, e Entity, form Form, tags []string) {
	w := writer{out: out, form: form}
	value := reflect.ValueOf(e).Elem()
	out.WriteByte('{')
	first := true
	for _, f := range layoutOf(e) {
		v := value.FieldByIndex(f.index)
		if f.name == "tags" && tags != nil {
			v = reflect.ValueOf(tags)
		}
		if hidden := e.Kind().Bare && (f.name == "id" || f.name == "tags"); !hidden && !empty(v) {
			first = w.key(f.name, first)
			w.value(v, f.set)
		}
	}
	out.WriteByte('}')
}

// field is where a field of an entity is and how it is written.
type field struct {
	name      string
	index     []int
	set       bool // the order says nothing
	reference bool
}

func (f *field) referenceOf(e Entity) *Reference {
	r, _ := reflect.ValueOf(e).Elem().FieldByIndex(f.index).Interface().(*Reference)
	return r
}

// layouts has the fields of every struct that is written, entities and records inside them.
var layouts = layoutsOf(
	Service{}, Route{}, Upstream{}, Target{}, Certificate{}, SNI{}, CACertificate{}, Plugin{}, Consumer{}, ConsumerGroup{}, Membership{},
	KeyAuth{}, BasicAuth{}, HMACAuth{}, JWT{}, OAuth2{}, ACL{}, MTLSAuth{},
	Peer{}, Healthchecks{}, ActiveHealthcheck{}, PassiveHealthcheck{}, Healthy{}, Unhealthy{},
)

func layoutsOf(values ...any) map[reflect.Type][]field {
	all := map[reflect.Type][]field{}
	for _, v := range values {
		all[reflect.TypeOf(v)] = layout(reflect.TypeOf(v))
	}
	return all
}

func layoutOf(e Entity) []field { return layouts[reflect.TypeOf(e).Elem()] }

// layout lists the fields that are written, sorted by name.
func layout(t reflect.Type) []field {
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("kong"), ",")
		if name == "" || f.Anonymous {
			continue
		}
		fields = append(fields, field{name: name, index: f.Index, set: options == "set", reference: f.Type == reflect.TypeFor[*Reference]()})
	}
	slices.SortFunc(fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	return fields
}

// empty tells whether a field is left out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

type writer struct {
	out  *bytes.Buffer
	form Form
}

// key writes the name of a member and says that the next is not the first.
func (w *writer) key(name string, first bool) bool {
	if !first {
		w.out.WriteByte(',')
	}
	w.text(name)
	w.out.WriteByte(':')
	return false
}

// text writes a string. Characters that YAML does not take as they are, though JSON does, are escaped: one of them would spoil a whole document.
func (w *writer) text(s string) {
	begin := w.out.Len()
	encoder := json.NewEncoder(w.out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	w.out.Truncate(w.out.Len() - 1)
	if !strings.ContainsFunc(s, unprintable) {
		return
	}
	written := w.out.String()[begin:]
	w.out.Truncate(begin)
	for _, r := range written {
		if unprintable(r) {
			fmt.Fprintf(w.out, `\u%04x`, r)
		} else {
			w.out.WriteRune(r)
		}
	}
}

// unprintable tells whether a character may not stand in YAML (1.1, c-printable).
func unprintable(r rune) bool {
	return r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

func (w *writer) value(v reflect.Value, set bool) {
	if special, ok := v.Interface().(Reference); ok {
		w.reference(special.ID)
		return
	}
	if secret, ok := v.Interface().(model.Secret); ok {
		if w.form == Redacted {
			w.text(secret.String())
		} else {
			w.text(secret.Reveal())
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			w.out.WriteString("null")
			return
		}
		w.value(v.Elem(), set)
	case reflect.Struct:
		w.record(v)
	case reflect.Map:
		w.mapping(v)
	case reflect.Slice:
		w.list(v, set)
	case reflect.String:
		if number, ok := v.Interface().(json.Number); ok {
			w.out.WriteString(number.String())
			return
		}
		w.text(v.String())
	default:
		text, err := json.Marshal(v.Interface())
		if err != nil {
			panic(fmt.Sprintf("entity: %s has no JSON: %v", v.Type(), err))
		}
		w.out.Write(text)
	}
}

func (w *writer) reference(id string) {
	if w.form != Body {
		w.text(id)
		return
	}
	w.out.WriteString(`{"id":`)
	w.text(id)
	w.out.WriteByte('}')
}

func (w *writer) record(v reflect.Value) {
	w.out.WriteByte('{')
	first := true
	for _, f := range layouts[v.Type()] {
		if member := v.FieldByIndex(f.index); !empty(member) {
			first = w.key(f.name, first)
			w.value(member, f.set)
		}
	}
	w.out.WriteByte('}')
}

func (w *writer) mapping(v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	w.out.WriteByte('{')
	first := true
	for _, key := range keys {
		first = w.key(key.String(), first)
		w.value(v.MapIndex(key), false)
	}
	w.out.WriteByte('}')
}

// list writes the elements, those of a set in the order of their JSON and once each.
func (w *writer) list(v reflect.Value, set bool) {
	elements := make([]string, v.Len())
	for i := range elements {
		var out bytes.Buffer
		(&writer{&out, w.form}).value(v.Index(i), false)
		elements[i] = out.String()
	}
	if set {
		slices.Sort(elements)
		elements = slices.Compact(elements)
	}
	w.out.WriteByte('[')
	w.out.WriteString(strings.Join(elements, ","))
	w.out.WriteByte(']')
}
