// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"crypto/md5" //nolint:gosec // what Kong names a configuration by
	"encoding/hex"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"slices"

	"sigs.k8s.io/yaml"
)

const zeroHash = "00000000000000000000000000000000"

// declared is what a gateway without a database was given last.
type declared struct{ text, hash string }

func (q *request) config() reply {
	if !q.dbless {
		return reply{status: http.StatusBadRequest, value: object{
			"message": "this endpoint is only available when Kong is configured to not use a database",
		}}
	}
	if q.method == http.MethodGet {
		return reply{status: http.StatusOK, value: object{"config": q.export()}}
	}
	document, text, hash, problem := q.document()
	if problem != nil {
		return *problem
	}
	if q.query.Get("check_hash") == "1" && hash == q.loaded.hash {
		return reply{status: http.StatusNotModified}
	}
	l := q.load(document)
	if a := l.refusal(q.query.Get("flatten_errors") == "1" && q.version.atLeast(version{3, 2})); a != nil {
		return *a
	}
	if l.store.size() == 0 && q.version.atLeast(version{3, 0}) {
		hash = zeroHash
	}
	q.store, q.loaded = l.store, declared{text: text, hash: hash}
	return reply{status: http.StatusCreated, value: l.loaded}
}

// export writes what the gateway holds as YAML: not the text that it was given, but its entities with defaults, nulls and times, and passwords hashed.
func (q *request) export() string {
	document := object{"_format_version": q.newest(), "_transform": false}
	for _, sc := range q.order {
		rows := []any{}
		for _, id := range slices.Sorted(maps.Keys(q.store.all(sc.name))) {
			o := copied(q.store.all(sc.name)[id]).(object)
			for _, f := range sc.fields {
				if _, set := o[f.name]; !set {
					o[f.name] = nil
				}
				if f.is == reference && o[f.name] != nil {
					o[f.name] = idOf(o[f.name])
				}
			}
			rows = append(rows, o)
		}
		if len(rows) > 0 {
			document[sc.name] = rows
		}
	}
	text, err := yaml.Marshal(document)
	if err != nil {
		panic(err) // it came in as JSON or YAML
	}
	return string(text)
}

func (q *request) newest() string {
	if q.version.atLeast(version{3, 0}) {
		return "3.0"
	}
	return "2.1"
}

func (db *store) size() int {
	n := 0
	for _, rows := range db.rows {
		n += len(rows)
	}
	return n
}

// document reads the three forms of a body: an object that is the document, an object with its text, and the text.
func (q *request) document() (document object, text, hash string, problem *reply) {
	kind, _, _ := mime.ParseMediaType(q.header.Get("Content-Type"))
	switch {
	case kind == "text/yaml", kind == "application/yaml" && q.version.atLeast(version{3, 9}):
		text = string(q.raw)
	case kind == "application/json":
		body, problem := q.object()
		if problem != nil {
			return nil, "", "", problem
		}
		if body["_format_version"] != nil {
			// Kong hashes an encoding of its own, which nobody else can foretell.
			return body, string(q.raw), sum(randomText()), nil
		}
		var ok bool
		if text, ok = body["config"].(string); !ok {
			return nil, "", "", &reply{status: http.StatusBadRequest, value: object{"message": "expected a declarative configuration"}}
		}
	default:
		a := page(http.StatusUnsupportedMediaType)
		return nil, "", "", &a
	}
	if err := yaml.Unmarshal([]byte(text), &document); err != nil || document == nil {
		f := &failure{
			status: http.StatusBadRequest, code: 14, name: "invalid declarative configuration",
			message: "declarative config is invalid: failed parsing declarative configuration",
			fields:  object{"error": "failed parsing declarative configuration"},
		}
		a := failed(f)
		return nil, "", "", &a
	}
	return normalised(document), text, sum(text), nil
}

func sum(text string) string {
	h := md5.Sum([]byte(text)) //nolint:gosec // see the import
	return hex.EncodeToString(h[:])
}

// normalised gives the numbers of a document the type that encoding/json gives them.
func normalised(document object) object {
	var o object
	if err := json.Unmarshal([]byte(encoded(document)), &o); err != nil {
		panic(err) // it was encoded just now
	}
	return o
}
