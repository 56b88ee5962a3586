// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // what Kong stores passwords as
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// writing is one write on its way into a store.
type writing struct {
	sim    *Simulator
	schema *schema
	// sent is the body without what is virtual, old the entity as it was, nil for a new one.
	sent, old object
	snis      []any // of a certificate; nil when the body has none
	sentSNIs  bool
	isPatch   bool
}

// settle turns what was sent into an entity, or says what is wrong with it. It does not look at other entities.
func (w *writing) settle(id string) (object, *failure) {
	o := maps.Clone(w.sent)
	if w.isPatch {
		o = merge(w.old, w.sent)
	}
	wrongURL := ""
	if w.schema.name == "services" {
		wrongURL = expandURL(o)
	}
	now := float64(w.sim.now().Unix())
	if o["id"] == nil {
		o["id"] = id
	}
	if o["created_at"] == nil {
		o["created_at"] = now
	}
	o["updated_at"] = now
	for _, f := range w.schema.fields {
		if f.random && o[f.name] == nil {
			o[f.name] = randomText()
		}
	}
	o = fill(w.schema.fields, o, w.sim.version)
	w.adjust(o)
	errs := validate(w.schema.fields, o, w.sim.version)
	if wrongURL != "" {
		errs["url"] = wrongURL
	}
	if w.schema.name == "plugins" {
		w.sim.checkPlugin(o, w.sent, errs)
	}
	if len(errs) == 0 && w.schema.check != nil {
		errs = w.schema.check(o, w.sim.version)
	}
	w.checkSNIs(o, errs)
	if len(errs) > 0 {
		return nil, violation(errs)
	}
	w.transform(o)
	return o, nil
}

// adjust is what Kong changes before it checks.
func (w *writing) adjust(o object) {
	if id, ok := o["id"].(string); ok {
		o["id"] = strings.ToLower(id)
	}
	switch w.schema.name {
	case "upstreams":
		settleHashing(o, w.sent)
	case "targets":
		if s, ok := o["target"].(string); ok {
			if normal, wrong := normalTarget(s); wrong == "" {
				o["target"] = normal
			}
		}
	case "plugins":
		w.sim.fillPlugin(o)
	}
}

// transform is what Kong changes after it has checked.
func (w *writing) transform(o object) {
	switch w.schema.name {
	case "basicauth_credentials":
		if w.sent["password"] != nil {
			o["password"] = hashed(o["password"].(string), idOf(o["consumer"]))
		}
	case "ca_certificates":
		block, _ := pem.Decode([]byte(o["cert"].(string)))
		sum := sha256.Sum256(block.Bytes)
		o["cert_digest"] = hex.EncodeToString(sum[:])
	}
}

func hashed(password, salt string) string {
	sum := sha1.Sum([]byte(password + salt)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

func randomText() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func randomID() string {
	t := randomText()
	return t[:8] + "-" + t[8:12] + "-4" + t[13:16] + "-8" + t[17:20] + "-" + t[20:32]
}

// checkSNIs refuses names that are wrong or belong to another certificate.
func (w *writing) checkSNIs(o, errs object) {
	if !w.sentSNIs {
		return
	}
	for _, name := range w.snis {
		s, ok := name.(string)
		if !ok {
			errs["snis"] = "expected an array of strings"
			return
		}
		if complaint := checkSNI(s); complaint != "" {
			errs["snis"] = complaint
			return
		}
		id := w.sim.store.byField("snis", "name", s)
		owner := w.sim.store.get("snis", id)
		if id != "" && idOf(owner["certificate"]) != o["id"] { // nil where it is of another workspace
			errs["snis"] = s + " already associated with existing certificate '" + idOf(owner["certificate"]) + "'"
		}
	}
}

// resolve replaces references by name with those by id.
func (s *Simulator) resolve(sc *schema, body object) *failure {
	for _, f := range sc.fields {
		ref, ok := body[f.name].(object)
		if f.is != reference || !ok || ref["id"] != nil || len(ref) == 0 {
			continue
		}
		for name, value := range ref {
			id := s.store.byField(f.to, name, value)
			if id == "" {
				return unresolved(f.name, ref)
			}
			body[f.name] = object{"id": id}
		}
	}
	return nil
}

// checkOthers compares the entity with those that there are.
func (s *Simulator) checkOthers(sc *schema, o object) *failure {
	for _, f := range sc.fields {
		if id := idOf(o[f.name]); f.is == reference && id != "" && s.store.get(f.to, strings.ToLower(id)) == nil {
			return missingForeign(f.name, id, f.to)
		}
	}
	if values := s.store.clash(sc, o); values != nil {
		return duplicate(values)
	}
	return nil
}

// writeVerbs are how DB-less gateways name what they don't do.
var writeVerbs = map[string]string{
	http.MethodPost: "create", http.MethodPut: "create or update", http.MethodPatch: "update", http.MethodDelete: "remove",
}

// write is POST, PUT and PATCH of one entity: id is "" for POST, else what the path says or what was found.
func (s *Simulator) write(verb string, sc *schema, body object, id string, old object) (int, object, *failure) {
	w := &writing{sim: s, schema: sc, sent: body, old: old}
	w.isPatch = verb == http.MethodPatch || sc.name == "targets" && old != nil && verb == http.MethodPut
	if sc.name == "certificates" {
		names, sent := body["snis"]
		w.snis, w.sentSNIs = list0(names), sent
		delete(body, "snis")
	}
	if failed := s.resolve(sc, body); failed != nil {
		return 0, nil, failed
	}
	if id != "" {
		body["id"] = id
	}
	o, failed := w.settle(randomID())
	switch {
	case failed != nil:
		return 0, nil, failed
	case s.dbless:
		return 0, nil, readOnly(writeVerbs[verb], sc.name)
	case verb == http.MethodPost && s.store.get(sc.name, o["id"].(string)) != nil:
		return 0, nil, takenKey(o["id"].(string))
	}
	if failed := s.checkOthers(sc, o); failed != nil {
		if sc.name == "targets" && failed.code == 5 && !s.version.atLeast(version{3, 0}) {
			return http.StatusOK, s.store.find(sc, o["target"].(string), "upstreams/"+idOf(o["upstream"])), nil
		}
		return 0, nil, failed
	}
	s.store.put(sc, o)
	if sc.name == "certificates" && (w.sentSNIs || verb == http.MethodPut) {
		s.replaceSNIs(o["id"].(string), w.snis)
	}
	if verb == http.MethodPost {
		return http.StatusCreated, o, nil
	}
	return http.StatusOK, o, nil
}

// replaceSNIs gives a certificate just these names.
func (s *Simulator) replaceSNIs(certificate string, names []any) {
	snis := s.schemas["snis"]
	for _, id := range s.store.childrenOf("snis", "certificates", certificate) {
		if !slices.Contains(names, s.store.get("snis", id)["name"]) {
			s.store.remove(snis, id)
		}
	}
	for _, name := range names {
		if s.store.byField("snis", "name", name) == "" {
			o := object{"id": randomID(), "name": name, "certificate": object{"id": certificate}, "created_at": float64(time.Now().Unix())}
			s.store.put(snis, fill(snis.fields, o, s.version))
		}
	}
}

// remove deletes an entity and what goes with it, unless something refers to it that does not.
func (s *Simulator) remove(sc *schema, id string) *failure {
	for _, child := range slices.Sorted(maps.Keys(s.store.refer(sc.name + "/" + id))) {
		collection, _, _ := strings.Cut(child, "/")
		if sc.name == "ca_certificates" && s.version.atLeast(version{3, 6}) {
			return &failure{
				status: http.StatusBadRequest, code: 19, name: "referenced by others",
				message: "ca certificate " + id + " is still referenced by '" + collection + "'", fields: object{"@referenced_by": collection},
			}
		}
		if sc.name != "ca_certificates" && !s.cascades(collection, sc.name) {
			return stillReferenced(collection, sc.name)
		}
	}
	for child := range maps.Clone(s.store.refer(sc.name + "/" + id)) {
		collection, childID, _ := strings.Cut(child, "/")
		if sc.name == "ca_certificates" {
			continue
		}
		if failed := s.remove(s.schemas[collection], childID); failed != nil {
			return failed
		}
	}
	s.store.remove(sc, id)
	return nil
}

// cascades tells whether entities of a collection go with what they refer to in another.
func (s *Simulator) cascades(collection, parent string) bool {
	for _, f := range s.schemas[collection].fields {
		if f.is == reference && f.to == parent {
			return f.cascade
		}
	}
	return false
}

// shown is an entity as answers have it.
func (s *Simulator) shown(sc *schema, o object) object {
	o = copied(o).(object)
	if sc.name == "certificates" {
		names := []any{}
		for _, id := range s.store.childrenOf("snis", "certificates", o["id"].(string)) {
			names = append(names, s.store.get("snis", id)["name"])
		}
		o["snis"] = names
	}
	if s.extra != "" {
		o[s.extra] = object{"of": "a later version"}
	}
	if s.emptyObjects {
		emptied(o)
	}
	return o
}

// emptied writes empty lists as {}, as Lua may.
func emptied(o object) {
	for name, value := range o {
		switch v := value.(type) {
		case []any:
			if len(v) == 0 {
				o[name] = object{}
			}
		case object:
			emptied(v)
		}
	}
}
