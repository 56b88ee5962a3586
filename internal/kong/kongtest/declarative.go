// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"crypto/sha1" //nolint:gosec // what UUIDs of version 5 are made with
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// loading is a document on its way into a store.
type loading struct {
	*Simulator
	store  *store
	items  []*item
	fields object // errors by collection and place
	loaded object
	// hopeless is set when Kong answers 500.
	hopeless bool
}

// item is an entity of a document.
type item struct {
	schema *schema
	sent   object // with references as they were written
	o      object // with references by id
	place  []string
	nested bool
	errs   object
}

func (s *Simulator) load(document object) *loading {
	l := &loading{Simulator: s, store: newStore(), fields: object{}, loaded: object{}}
	l.top(document)
	for _, it := range l.items {
		l.identify(it)
	}
	for _, it := range l.items {
		l.link(it)
	}
	for _, it := range l.items {
		l.settle(it)
	}
	if !l.broken() {
		for _, it := range l.items {
			l.unite(it)
		}
	}
	return l
}

func (l *loading) broken() bool {
	return len(l.fields) > 0 || l.hopeless || slices.ContainsFunc(l.items, func(it *item) bool { return len(it.errs) > 0 })
}

// top takes the document apart.
func (l *loading) top(document object) {
	switch format := fmt.Sprint(document["_format_version"]); {
	case document["_format_version"] == nil:
		l.fields["_format_version"] = "required field missing"
	case !slices.Contains(l.formats(), format):
		l.fields["_format_version"] = "expected one of: " + strings.Join(l.formats(), ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(document)) {
		if slices.Contains([]string{"_format_version", "_transform", "_comment", "_ignore"}, name) {
			continue
		}
		sc := l.schemas[name]
		list, ok := document[name].([]any)
		switch {
		case sc == nil:
			l.fields[name] = "unknown field"
		case !ok:
			l.fields[name] = "expected an array"
		default:
			l.collect(sc, list, []string{name}, "", nil)
		}
	}
}

func (l *loading) formats() []string {
	if l.version.atLeast(version{3, 0}) {
		return []string{"1.1", "2.1", "3.0"}
	}
	return []string{"1.1", "2.1"}
}

// collect lists entities and those nested in them.
func (l *loading) collect(sc *schema, list []any, place []string, link string, parent *item) {
	for i, element := range list {
		sent, ok := element.(object)
		it := &item{schema: sc, place: append(slices.Clone(place), fmt.Sprint(i+1)), nested: parent != nil, errs: object{}}
		if !ok {
			it.errs["@entity"] = []any{"expected a record"}
			l.items = append(l.items, it)
			continue
		}
		it.sent, it.o = sent, maps.Clone(sent)
		for _, name := range []string{"id", "tags"} {
			if sc.bare && sent[name] != nil {
				it.errs[name] = "unknown field"
			}
		}
		l.items = append(l.items, it)
		if parent != nil {
			it.o[link] = parent
		}
		l.nested(it)
	}
}

func (l *loading) nested(it *item) {
	for _, name := range slices.Sorted(maps.Keys(it.o)) {
		child := l.schemas[name]
		list, ok := it.o[name].([]any)
		if child == nil || !ok {
			continue
		}
		for _, f := range child.fields {
			if f.is == reference && f.to == it.schema.name && f.name != "client_certificate" {
				delete(it.o, name)
				l.collect(child, list, append(slices.Clone(it.place), name), f.name, it)
			}
		}
	}
}

// identify makes up the ids that were left out.
func (l *loading) identify(it *item) {
	if it.o == nil || it.o["id"] != nil {
		return
	}
	it.o["id"] = randomID()
	if key, ok := it.o[it.schema.key].(string); ok && it.schema.key != "" {
		it.o["id"] = derivedID(it.schema.name, key)
	}
}

// derivedID is the id that Kong gives an entity without one.
func derivedID(collection, key string) string {
	space, _ := hex.DecodeString("fd02801f09574a15a55ac8d9606f30b5") // a constant
	for _, name := range []string{collection, key} {
		digest := sha1.Sum(append(slices.Clone(space), name...)) //nolint:gosec // see the import
		space = digest[:16]
		space[6], space[8] = space[6]&0x0f|0x50, space[8]&0x3f|0x80
	}
	t := hex.EncodeToString(space)
	return t[:8] + "-" + t[8:12] + "-" + t[12:16] + "-" + t[16:20] + "-" + t[20:]
}

// link turns references into ids. What leads to nothing is noted for the second stage.
func (l *loading) link(it *item) {
	for _, f := range it.schema.fields {
		if f.is != reference || it.o == nil {
			continue
		}
		switch to := it.o[f.name].(type) {
		case *item:
			it.o[f.name] = object{"id": to.o["id"]}
		case string:
			it.o[f.name] = object{"id": l.named(f.to, to)}
		case object:
			if !l.version.atLeast(version{3, 0}) {
				it.errs[f.name] = "expected a string"
				delete(it.o, f.name)
			}
		}
	}
}

// named gives the id of an entity by its id or key; one that there isn't has itself.
func (l *loading) named(collection, key string) string {
	for _, it := range l.items {
		if it.schema.name == collection && it.o != nil && (it.o["id"] == key || it.o[it.schema.key] == key) {
			id, _ := it.o["id"].(string)
			return id
		}
	}
	return key
}

// settle is the first stage: the schema of each entity.
func (l *loading) settle(it *item) {
	if it.o == nil {
		return
	}
	dangling := object{}
	for _, f := range it.schema.fields {
		// A name that leads nowhere is no UUID; that it is missing is told in the second stage, once all else is in order.
		if id := idOf(it.o[f.name]); f.is == reference && id != "" && !isUUID(id) {
			dangling[f.name] = it.o[f.name]
			it.o[f.name] = object{"id": randomID()}
		}
	}
	w := &writing{sim: l.withStore(), schema: it.schema, sent: it.o}
	o, f := w.settle("")
	if f != nil {
		maps.Copy(it.errs, f.fields.(object))
		for name := range dangling {
			it.errs[name] = object{"id": "missing primary key"}
		}
		return
	}
	maps.Copy(o, dangling)
	it.o = o
}

// withStore is the simulator with what is being loaded, for rules that look at other entities.
func (l *loading) withStore() *Simulator {
	return l.over(l.store)
}

// unite is the second stage: references and uniqueness.
func (l *loading) unite(it *item) {
	for _, f := range it.schema.fields {
		id := idOf(it.o[f.name])
		if f.is == reference && id != "" && !l.present(f.to, id) {
			l.dangles(it, f, id)
			return
		}
	}
	if values := l.store.clash(it.schema, it.o); values != nil && l.version.atLeast(version{3, 0}) && len(values) == 1 {
		for name, value := range values {
			text := fmt.Sprintf("uniqueness violation: '%s' entity with %s set to '%v' already declared", it.schema.name, name, value)
			if it.nested {
				l.fields[it.schema.name] = []any{text} // without any place
				continue
			}
			it.errs["@entity"] = []any{text}
		}
		return
	}
	l.store.put(it.schema, it.o)
	rows, _ := l.loaded[it.schema.name].(object)
	if rows == nil {
		rows = object{}
		l.loaded[it.schema.name] = rows
	}
	rows[it.o["id"].(string)] = it.o
}

func (l *loading) present(collection, id string) bool {
	return slices.ContainsFunc(l.items, func(it *item) bool { return it.schema.name == collection && it.o != nil && it.o["id"] == id })
}

// dangles is a reference to nothing: all that is left of it in an answer is little.
func (l *loading) dangles(it *item, f field, id string) {
	name, _ := it.o["name"].(string)
	if it.schema.name == "plugins" || name == "" {
		l.hopeless = true
		return
	}
	text := fmt.Sprintf("invalid reference '%s: %s' (no such entry in '%s')", f.name, id, f.to)
	rows, _ := l.fields[it.schema.name].(object)
	if rows == nil {
		rows = object{}
		l.fields[it.schema.name] = rows
	}
	rows[name] = []any{text}
}

// refusal is the answer to a document that is not taken, nil for one that is.
func (l *loading) refusal(flat bool) *reply {
	if !l.broken() {
		return nil
	}
	if l.hopeless {
		return &reply{status: http.StatusInternalServerError, value: object{"message": "An unexpected error occurred"}}
	}
	f := &failure{status: http.StatusBadRequest, code: 14, name: "invalid declarative configuration", message: "declarative config is invalid: {}"}
	if flat {
		l.flatten(f)
	} else {
		f.fields = l.nestedErrors()
		f.message = "declarative config is invalid: " + encoded(f.fields)
	}
	a := failed(f)
	return &a
}

// nestedErrors gives errors by collection and place.
func (l *loading) nestedErrors() object {
	errs := copied(l.fields).(object)
	for _, it := range l.items {
		if len(it.errs) == 0 {
			continue
		}
		at := errs
		for _, step := range it.place {
			next, ok := at[step].(object)
			if !ok {
				next = object{}
				at[step] = next
			}
			at = next
		}
		maps.Copy(at, it.errs)
	}
	return errs
}

// flatten moves the errors of entities into a list; those of references are lost on the way, as in Kong.
func (l *loading) flatten(f *failure) {
	fields, list := object{}, []any{}
	for name, value := range l.fields {
		if _, ofEntities := value.(object); !ofEntities {
			fields[name] = value
		}
	}
	for _, it := range l.items {
		if len(it.errs) == 0 {
			continue
		}
		entry := object{"entity_type": it.schema.singular, "entity": it.sent, "errors": flatErrors("", it.errs)}
		for _, name := range []string{"id", "name", "tags"} {
			if it.sent[name] != nil {
				entry["entity_"+name] = it.sent[name]
			}
		}
		list = append(list, entry)
	}
	f.fields, f.more = fields, object{"flattened_errors": list}
}

func flatErrors(prefix string, errs object) []any {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(errs)) {
		path := name
		if prefix != "" {
			path = prefix + "." + name
		}
		switch v := errs[name].(type) {
		case object:
			list = append(list, flatErrors(path, v)...)
		case []any:
			for _, message := range v {
				list = append(list, object{"type": "entity", "message": message})
			}
		default:
			list = append(list, object{"type": "field", "field": path, "message": v})
		}
	}
	return list
}
