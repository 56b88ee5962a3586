// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// Change is a difference between what a gateway holds and what it should, for people and programs. Nothing in it is secret.
type Change struct {
	Gateway string `json:"gateway,omitempty"`
	Verb    string `json:"verb"`
	Kind    string `json:"kind,omitempty"`
	Name    string `json:"name,omitempty"`
	ID      string `json:"id,omitempty"`
	// Fields are those that differ; none where they are not known.
	Fields []FieldChange `json:"fields,omitempty"`
	// Reason is why the change cannot be made, or "".
	Reason string `json:"reason,omitempty"`
}

// FieldChange is a field that differs. From and To are JSON; both are empty where people are not to see what it holds.
type FieldChange struct {
	Field string          `json:"field"`
	From  json.RawMessage `json:"from,omitempty"`
	To    json.RawMessage `json:"to,omitempty"`
}

// longestShown bounds the values in a line.
const longestShown = 80

// String gives it in one line.
func (c Change) String() string {
	var b strings.Builder
	if c.Gateway != "" {
		b.WriteString(c.Gateway + ": ")
	}
	b.WriteString(strings.TrimSpace(c.Verb + " " + c.Kind + " " + c.Name))
	for i, f := range c.Fields {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		b.WriteString(separator + f.Field)
		if f.From != nil || f.To != nil {
			b.WriteString(" " + shown(f.From) + " -> " + shown(f.To))
		}
	}
	if c.Reason != "" {
		b.WriteString("; refused: " + c.Reason)
	}
	return b.String()
}

func shown(value json.RawMessage) string {
	switch {
	case value == nil:
		return "unset"
	case len(value) > longestShown:
		return string(value[:longestShown]) + "…"
	}
	return string(value)
}

// Compare lists what differs between two states, entity by entity, sorted by kind and name. With exact set a field that is not wanted counts too; a
// gateway that was asked shows its defaults in such fields.
func Compare(held, wanted *entity.State, exact bool) []Change {
	before := map[entity.Place]entity.Entity{}
	for _, e := range held.Entities {
		before[entity.PlaceOf(e)] = e
	}
	var changes []Change
	for _, e := range wanted.Entities {
		place := entity.PlaceOf(e)
		old := before[place]
		delete(before, place)
		if old == nil {
			changes = append(changes, changeOf("create", e))
		} else if fields := Fields(e, fieldsOfEntity(old), exact); len(fields) > 0 {
			c := changeOf("update", e)
			c.Fields = fields
			changes = append(changes, c)
		}
	}
	for _, e := range held.Entities {
		if before[entity.PlaceOf(e)] != nil {
			changes = append(changes, changeOf("delete", e))
		}
	}
	return changes
}

func changeOf(verb string, e entity.Entity) Change {
	return Change{Verb: verb, Kind: e.Kind().Singular, Name: entity.Name(e), ID: e.Common().ID}
}

func fieldsOfEntity(e entity.Entity) map[string]any {
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(entity.Encode(e, entity.Flat, nil)))
	if err := decoder.Decode(&fields); err != nil {
		panic(fmt.Sprintf("plan: %s is no JSON: %v", entity.Name(e), err))
	}
	return fields
}

// open are the kinds whose fields hold nothing that is secret.
var open = []*entity.Kind{
	entity.Services, entity.Routes, entity.Upstreams, entity.Targets, entity.SNIs, entity.Consumers, entity.ConsumerGroups, entity.ACLs,
}

// Fields lists the fields in which a record, as a gateway shows it, is not what is wanted; see [Compare].
func Fields(e entity.Entity, record map[string]any, exact bool) []FieldChange {
	want := fieldsOfEntity(e)
	for _, name := range unseen {
		delete(want, name)
	}
	d := &differences{show: slices.Contains(open, e.Kind()), exact: exact}
	for _, fields := range []map[string]any{want, record} {
		if text, ok := fields["target"].(string); ok {
			fields["target"] = normal(e.Kind(), "target", text)
		}
	}
	for name, value := range record {
		if o, ok := value.(map[string]any); ok && e.Kind().To(name) != nil {
			record[name] = o["id"]
		}
	}
	d.compare("", want, record)
	slices.SortFunc(d.found, func(a, b FieldChange) int { return strings.Compare(a.Field, b.Field) })
	return d.found
}

// unseen are fields that gateways show in another form than they are given, and tags, which are compared by whoever knows what is added to them.
var unseen = []string{"password", "client_secret", "tags"}

// differences is one call of Fields.
type differences struct {
	show, exact bool
	found       []FieldChange
}

func (d *differences) compare(prefix string, want, got map[string]any) {
	for name, value := range want {
		record, isRecord := value.(map[string]any)
		other, bothRecords := got[name].(map[string]any)
		switch {
		case isRecord && bothRecords:
			d.compare(prefix+name+".", record, other)
		case !alike(value, got[name]):
			d.note(prefix+name, got[name], value)
		}
	}
	for name, value := range got {
		if _, wanted := want[name]; d.exact && !wanted && !slices.Contains(unseen, prefix+name) {
			d.note(prefix+name, value, nil)
		}
	}
}

func (d *differences) note(field string, from, to any) {
	c := FieldChange{Field: field}
	if d.show {
		c.From, c.To = textOf(from), textOf(to)
	}
	d.found = append(d.found, c)
}

func textOf(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("plan: %v came from JSON: %v", value, err))
	}
	return text
}
