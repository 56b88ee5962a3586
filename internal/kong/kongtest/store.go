// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// store is what a database, or the memory of a gateway without one, holds.
type store struct {
	rows map[string]map[string]object // collection → id → entity
	// unique leads from a value that must be unique to the id that has it, children from "collection/id" to those that refer to it.
	unique   map[string]string
	children map[string]map[string]bool
	// shared is the store of the default workspace, which also has what belongs to none: CA certificates, and which server names are taken.
	shared *store
}

func newStore() *store {
	db := &store{rows: map[string]map[string]object{}, unique: map[string]string{}, children: map[string]map[string]bool{}}
	db.shared = db
	return db
}

// workspace gives an empty store that shares what belongs to no workspace.
func (db *store) workspace() *store {
	within := newStore()
	within.shared = db.shared
	return within
}

// home is where the entities of a collection are kept.
func (db *store) home(collection string) *store {
	if collection == "ca_certificates" {
		return db.shared
	}
	return db
}

// index is where the unique values of a collection are.
func (db *store) index(collection string) map[string]string {
	if collection == "snis" {
		return db.shared.unique
	}
	return db.home(collection).unique
}

// all gives the entities of a collection by their ids.
func (db *store) all(collection string) map[string]object {
	return db.home(collection).rows[collection]
}

// refer gives those that refer to "collection/id".
func (db *store) refer(parent string) map[string]bool {
	collection, _, _ := strings.Cut(parent, "/")
	return db.home(collection).children[parent]
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // what came in as JSON goes out as JSON
	}
	return string(text)
}

// copied gives a deep copy of a JSON value.
func copied(value any) any {
	switch v := value.(type) {
	case object:
		o := make(object, len(v))
		for name, member := range v {
			o[name] = copied(member)
		}
		return o
	case []any:
		l := make([]any, len(v))
		for i := range v {
			l[i] = copied(v[i])
		}
		return l
	}
	return value
}

// idOf gives the id in a reference, or "".
func idOf(value any) string {
	ref, _ := value.(object)
	id, _ := ref["id"].(string)
	return id
}

// constraints gives what of the entity must be unique: index key → the values.
func (s *schema) constraints(o object) map[string]object {
	found := map[string]object{}
	for _, f := range s.fields {
		if f.unique && o[f.name] != nil {
			found[s.name+"\x00"+f.name+"\x00"+encoded(o[f.name])] = object{f.name: o[f.name]}
		}
	}
	if len(s.together) == 0 {
		return found
	}
	values, key := object{}, s.name+"\x00together"
	for _, name := range s.together {
		values[name] = o[name]
		key += "\x00" + encoded(o[name])
	}
	found[key] = values
	return found
}

// references gives "collection/id" of all that the entity refers to.
func (s *schema) references(o object) []string {
	var refs []string
	for _, f := range s.fields {
		if id := idOf(o[f.name]); f.is == reference && id != "" {
			refs = append(refs, f.to+"/"+id)
		}
	}
	if s.name == "services" {
		for _, id := range texts(o["ca_certificates"]) {
			refs = append(refs, "ca_certificates/"+id)
		}
	}
	return refs
}

func (db *store) get(collection, id string) object { return db.all(collection)[id] }

// clash gives the values that another entity has already, or nil.
func (db *store) clash(s *schema, o object) object {
	for _, key := range slices.Sorted(maps.Keys(s.constraints(o))) {
		if id, taken := db.index(s.name)[key]; taken && id != o["id"] {
			return s.constraints(o)[key]
		}
	}
	return nil
}

func (db *store) put(s *schema, o object) {
	id := o["id"].(string)
	db.remove(s, id)
	rows := db.home(s.name).rows
	if rows[s.name] == nil {
		rows[s.name] = map[string]object{}
	}
	rows[s.name][id] = o
	for key := range s.constraints(o) {
		db.index(s.name)[key] = id
	}
	for _, parent := range s.references(o) {
		collection, _, _ := strings.Cut(parent, "/")
		children := db.home(collection).children
		if children[parent] == nil {
			children[parent] = map[string]bool{}
		}
		children[parent][s.name+"/"+id] = true
	}
}

// remove takes one entity out, and nothing with it.
func (db *store) remove(s *schema, id string) {
	old := db.get(s.name, id)
	if old == nil {
		return
	}
	for key := range s.constraints(old) {
		delete(db.index(s.name), key)
	}
	for _, parent := range s.references(old) {
		delete(db.refer(parent), s.name+"/"+id)
	}
	delete(db.all(s.name), id)
}

// childrenOf gives the ids of a collection that refer to an entity, sorted.
func (db *store) childrenOf(collection, parent, id string) []string {
	var ids []string
	for child := range db.refer(parent + "/" + id) {
		if name, childID, _ := strings.Cut(child, "/"); name == collection {
			ids = append(ids, childID)
		}
	}
	slices.Sort(ids)
	return ids
}

// find gives the entity by id or by its key; parent, unless empty, is "collection/id" of the one it belongs to.
func (db *store) find(s *schema, key, parent string) object {
	var found object
	switch {
	case isUUID(key):
		found = db.get(s.name, strings.ToLower(key))
	case s.name == "targets":
		normal, _ := normalTarget(key)
		found = db.scan(s, "target", normal, parent)
	case s.name == "acls":
		found = db.scan(s, "group", key, parent)
	case s.name == "certificates":
		found = db.get(s.name, idOf(db.get("snis", db.byField("snis", "name", key))["certificate"]))
	case s.key != "":
		found = db.get(s.name, db.byField(s.name, s.key, key))
	}
	if found != nil && parent != "" && !slices.Contains(s.references(found), parent) {
		return nil
	}
	return found
}

// byField gives the id of the entity that has a unique value, or "".
func (db *store) byField(collection, field string, value any) string {
	return db.index(collection)[collection+"\x00"+field+"\x00"+encoded(value)]
}

func (db *store) scan(s *schema, name, value, parent string) object {
	collection, id, _ := strings.Cut(parent, "/")
	for _, child := range db.childrenOf(s.name, collection, id) {
		if o := db.get(s.name, child); o[name] == value {
			return o
		}
	}
	return nil
}
