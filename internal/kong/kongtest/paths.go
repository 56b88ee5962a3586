// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// request is one request while it is answered, under the lock.
type request struct {
	*Simulator
	method   string
	query    url.Values
	header   http.Header
	raw      []byte
	segments []string
}

// segmentsOf parts a path; a slash at the end says nothing.
func segmentsOf(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if decoded, err := url.PathUnescape(s); err == nil {
			segments[i] = decoded
		}
	}
	return segments
}

func (s *Simulator) byPath(name string) *schema {
	for _, sc := range s.order {
		if sc.path != "" && sc.path == name {
			return sc
		}
	}
	return nil
}

// below gives the collection that is found under that name below a parent.
func (s *Simulator) below(parent *schema, name string) (*schema, string) {
	for _, sc := range s.order {
		for _, f := range sc.fields {
			if sc.below == name && f.is == reference && f.to == parent.name {
				return sc, f.name
			}
		}
	}
	return nil, ""
}

func (q *request) answer() reply {
	if a, ok := q.enter(); ok {
		return a
	}
	if a, ok := q.information(); ok {
		return a
	}
	if a, ok := q.group(); ok {
		return a
	}
	sc := q.byPath(q.segments[0])
	if sc == nil {
		return failed(notFound)
	}
	switch len(q.segments) {
	case 1:
		return q.collection(sc, "", "")
	case 2:
		return q.single(sc, q.segments[1], "", "")
	}
	if a, ok := q.parentOf(sc); ok {
		return a
	}
	child, name := q.below(sc, q.segments[2])
	if child == nil || len(q.segments) > 5 {
		return failed(notFound)
	}
	parent := q.store.find(sc, q.segments[1], "")
	if parent == nil {
		return failed(notFound)
	}
	place := sc.name + "/" + parent["id"].(string)
	switch len(q.segments) {
	case 3:
		return q.collection(child, name, place)
	case 4:
		return q.single(child, q.segments[3], name, place)
	}
	return q.health(child, place)
}

// parentOf answers for /E/{id}/{fk}.
func (q *request) parentOf(sc *schema) (reply, bool) {
	for _, f := range sc.fields {
		if f.is != reference || f.name != q.segments[2] || len(q.segments) != 3 {
			continue
		}
		parent := q.schemas[f.to]
		child := q.store.find(sc, q.segments[1], "")
		id := idOf(child[f.name])
		switch {
		case q.method == http.MethodDelete || q.method == http.MethodPost:
			return failed(notAllowed), true
		case child == nil || id == "":
			return failed(notFound), true
		}
		return q.single(parent, id, "", ""), true
	}
	return reply{}, false
}

func (q *request) options(verbs string) reply {
	return reply{status: http.StatusNoContent, header: http.Header{"Allow": {verbs}}}
}

// collection answers for a list, of one parent or of all.
func (q *request) collection(sc *schema, link, parent string) reply {
	switch q.method {
	case http.MethodGet:
		return q.list(sc, parent)
	case http.MethodPost:
		return q.save(sc, "", nil, link, parent)
	case http.MethodOptions:
		return q.options("GET, HEAD, OPTIONS, POST")
	}
	return failed(notAllowed)
}

// single answers for one entity, named by its id or its key.
func (q *request) single(sc *schema, key, link, parent string) reply {
	old := q.store.find(sc, key, parent)
	switch q.method {
	case http.MethodGet:
		if old == nil {
			return failed(notFound)
		}
		return reply{status: http.StatusOK, value: q.shown(sc, old)}
	case http.MethodPut:
		if old == nil && (sc.name == "targets" || parent != "" && isUUID(key) && q.store.get(sc.name, key) != nil) {
			return failed(notFound)
		}
		return q.save(sc, key, old, link, parent)
	case http.MethodPatch:
		if old == nil {
			return failed(missing(key))
		}
		return q.save(sc, key, old, link, parent)
	case http.MethodDelete:
		return q.delete(sc, old)
	case http.MethodOptions:
		return q.options("DELETE, GET, HEAD, OPTIONS, PATCH, PUT")
	}
	return failed(notAllowed)
}

func (q *request) delete(sc *schema, old object) reply {
	if old == nil {
		return reply{status: http.StatusNoContent}
	}
	if q.dbless {
		return failed(readOnly("remove", sc.name))
	}
	if f := q.remove(sc, old["id"].(string)); f != nil {
		return failed(f)
	}
	return reply{status: http.StatusNoContent}
}

// save is POST, PUT or PATCH.
func (q *request) save(sc *schema, key string, old object, link, parent string) reply {
	body, problem := q.object()
	if problem != nil {
		return *problem
	}
	if link != "" {
		_, id, _ := strings.Cut(parent, "/")
		body[link] = object{"id": id}
	}
	id := ""
	switch {
	case old != nil:
		id = old["id"].(string)
	case isUUID(key):
		id = strings.ToLower(key)
	case key != "":
		body[sc.key] = key
	}
	status, o, f := q.write(q.method, sc, body, id, old)
	if f != nil {
		return failed(f)
	}
	return reply{status: status, value: q.shown(sc, o)}
}

// object reads the body as JSON, or gives the answer to a body that is none.
func (q *request) object() (object, *reply) {
	kind, _, _ := mime.ParseMediaType(q.header.Get("Content-Type"))
	if kind == "" && len(q.raw) == 0 {
		return object{}, nil
	}
	if kind != "application/json" {
		a := page(http.StatusUnsupportedMediaType)
		return nil, &a
	}
	var body object
	if err := json.Unmarshal(q.raw, &body); err != nil || body == nil {
		return nil, &reply{status: http.StatusBadRequest, value: object{"message": "Cannot parse JSON body"}}
	}
	return body, nil
}

// health sets a target up or down: that is not kept.
func (q *request) health(sc *schema, parent string) reply {
	verb := http.MethodPut
	if !q.version.atLeast(version{3, 0}) {
		verb = http.MethodPost
	}
	switch state := q.segments[4]; {
	case sc.name != "targets" || state != "healthy" && state != "unhealthy":
		return failed(notFound)
	case q.method != verb:
		return failed(notAllowed)
	case q.store.find(sc, q.segments[3], parent) == nil:
		return failed(notFound)
	}
	return reply{status: http.StatusNoContent}
}
