// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/fairway-ingress/fairway/internal/model"
)

// ReadDocument reads a declarative document of flat collections, in JSON: one of ours, or what a gateway says that it holds, with its defaults. What
// is unknown here is passed over, as are entities without an id, and fields that have another form than ours.
//
// Texts in the configuration of plugins are read as secrets, because nothing says which of them are. Entities whose secrets a gateway hashes are
// left out: what is read could not be written again.
func ReadDocument(document []byte) (*State, error) {
	var collections map[string]json.RawMessage
	if err := json.Unmarshal(document, &collections); err != nil {
		return nil, fmt.Errorf("declarative document: %w", err)
	}
	var entities []Entity
	for _, kind := range Kinds() {
		var rows []map[string]any
		decoder := json.NewDecoder(bytes.NewReader(collections[kind.Name]))
		decoder.UseNumber()
		if decoder.Decode(&rows) != nil { // absent, or an empty list that is {}
			continue
		}
		seen := map[string]bool{}
		for _, row := range rows {
			e := read(kind, row)
			if id := e.Common().ID; id != "" && !seen[id] && !Hashed(e) {
				seen[id] = true
				entities = append(entities, e)
			}
		}
	}
	return NewState(entities), nil
}

// Hashed tells whether a gateway shows a hash where it was given a secret.
func Hashed(e Entity) bool {
	o, isOAuth2 := e.(*OAuth2)
	return e.Kind() == BasicAuths || isOAuth2 && o.HashSecret
}

// makers give an empty entity of each kind.
var makers = map[*Kind]func() Entity{
	Services: make1[Service], Routes: make1[Route], Upstreams: make1[Upstream], Targets: make1[Target], Certificates: make1[Certificate], SNIs: make1[SNI],
	CACertificates: make1[CACertificate], Plugins: make1[Plugin], Consumers: make1[Consumer], ConsumerGroups: make1[ConsumerGroup],
	KeyAuths: make1[KeyAuth], BasicAuths: make1[BasicAuth], HMACAuths: make1[HMACAuth], JWTs: make1[JWT], OAuth2s: make1[OAuth2], ACLs: make1[ACL],
	MTLSAuths: make1[MTLSAuth], Memberships: make1[Membership],
}

func make1[T any, P interface {
	*T
	Entity
}]() Entity {
	return P(new(T))
}

func read(kind *Kind, row map[string]any) Entity {
	e := makers[kind]()
	readInto(reflect.ValueOf(e).Elem(), row)
	if m, ok := e.(*Membership); ok && m.ConsumerGroup != nil && m.Consumer != nil {
		return NewMembership(m.ConsumerGroup.ID, m.Consumer.ID)
	}
	return e
}

// readInto sets the fields of an entity, or of a record in one.
func readInto(to reflect.Value, row map[string]any) {
	for _, f := range layouts[to.Type()] {
		if value := row[f.name]; value != nil {
			readValue(to.FieldByIndex(f.index), value)
		}
	}
}

// readValue sets a field and tells whether the value has its form.
func readValue(to reflect.Value, value any) bool {
	switch to.Interface().(type) {
	case model.Secret:
		text, ok := value.(string)
		return ok && set(to, model.NewSecret(text))
	case *Reference:
		id := idIn(value)
		return id != "" && set(to, &Reference{ID: id})
	case map[string]any:
		config, ok := hidden(value).(map[string]any)
		return ok && set(to, config)
	}
	switch to.Kind() {
	case reflect.Pointer:
		element := reflect.New(to.Type().Elem())
		return readValue(element.Elem(), value) && set(to, element.Interface())
	case reflect.Struct:
		row, ok := value.(map[string]any)
		if ok {
			readInto(to, row)
		}
		return ok
	case reflect.Slice:
		return readList(to, value)
	}
	return readPlain(to, value)
}

func set(to reflect.Value, value any) bool {
	to.Set(reflect.ValueOf(value))
	return true
}

// readList sets a list of those elements that have the form.
func readList(to reflect.Value, value any) bool {
	list, ok := value.([]any)
	for _, v := range list {
		element := reflect.New(to.Type().Elem()).Elem()
		if id := idIn(v); element.Kind() == reflect.String && id != "" {
			v = id
		}
		if readValue(element, v) {
			to.Set(reflect.Append(to, element))
		}
	}
	return ok
}

// readPlain sets numbers, texts, flags and maps.
func readPlain(to reflect.Value, value any) bool {
	if number, ok := value.(json.Number); ok { // a whole number may come as 80.0
		if whole, err := number.Float64(); err == nil && whole == math.Trunc(whole) && math.Abs(whole) < 1<<53 {
			value = int64(whole)
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return false
	}
	fresh := reflect.New(to.Type())
	if json.Unmarshal(text, fresh.Interface()) != nil {
		return false
	}
	to.Set(fresh.Elem())
	return true
}

// idIn gives the id in a reference, which is bare or in an object.
func idIn(value any) string {
	if o, ok := value.(map[string]any); ok {
		value = o["id"]
	}
	id, _ := value.(string)
	return id
}

// hidden makes secrets of the texts in a JSON value.
func hidden(value any) any {
	switch v := value.(type) {
	case string:
		return model.NewSecret(v)
	case map[string]any:
		for name, member := range v {
			v[name] = hidden(member)
		}
	case []any:
		for i := range v {
			v[i] = hidden(v[i])
		}
	}
	return value
}

// WithMeta gives the entity with other common fields.
func WithMeta(e Entity, m Meta) Entity {
	c := reflect.New(reflect.TypeOf(e).Elem())
	c.Elem().Set(reflect.ValueOf(e).Elem())
	out := c.Interface().(Entity)
	*out.Common() = m
	return out
}
