// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// failure is an answer other than success.
type failure struct {
	status  int
	code    int
	name    string
	message string
	fields  any
	options any
	more    object // other members of the body
}

func (f *failure) body() object {
	body := object{"message": f.message}
	if f.code != 0 {
		body["code"], body["name"] = f.code, f.name
	}
	if f.fields != nil {
		body["fields"] = f.fields
	}
	if f.options != nil {
		body["options"] = f.options
	}
	maps.Copy(body, f.more)
	return body
}

var (
	notFound   = &failure{status: http.StatusNotFound, message: "Not found"}
	notAllowed = &failure{status: http.StatusMethodNotAllowed, message: "Method not allowed"}
)

func violation(fields object) *failure {
	return &failure{status: http.StatusBadRequest, code: 2, name: "schema violation", message: violationText(fields), fields: fields}
}

// violationText gives "schema violation (FIELD: TEXT)", or counts several.
func violationText(fields object) string {
	lines := flatten("", fields)
	text := strings.Join(lines, "; ")
	if len(lines) == 1 {
		return "schema violation (" + text + ")"
	}
	return fmt.Sprintf("%d schema violations (%s)", len(lines), text)
}

// flatten gives "FIELD: TEXT" for every text inside errors, sorted.
func flatten(prefix string, value any) []string {
	switch v := value.(type) {
	case object:
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			path := name
			if prefix != "" {
				path = prefix + "." + name
			}
			if name == "@entity" {
				path = prefix
			}
			lines = append(lines, flatten(path, v[name])...)
		}
		return lines
	case []any:
		var lines []string
		for _, element := range v {
			lines = append(lines, flatten(prefix, element)...)
		}
		return lines
	default:
		if prefix == "" {
			return []string{fmt.Sprint(v)}
		}
		return []string{prefix + ": " + fmt.Sprint(v)}
	}
}

func takenKey(id string) *failure {
	return &failure{
		status: http.StatusBadRequest, code: 3, name: "primary key violation",
		message: "primary key violation on key '{id=\"" + id + "\"}'", fields: object{"id": id},
	}
}

func missingForeign(name, id, collection string) *failure {
	return &failure{
		status: http.StatusBadRequest, code: 4, name: "foreign key violation",
		message: fmt.Sprintf("the foreign key '{id=%q}' does not reference an existing '%s' entity.", id, collection),
		fields:  object{name: object{"id": id}},
	}
}

func stillReferenced(by, collection string) *failure {
	return &failure{
		status: http.StatusBadRequest, code: 4, name: "foreign key violation",
		message: fmt.Sprintf("an existing '%s' entity references this '%s' entity", by, collection), fields: object{"@referenced_by": by},
	}
}

func unresolved(name string, ref object) *failure {
	return &failure{
		status: http.StatusBadRequest, code: 13, name: "foreign keys unresolved",
		message: "foreign key unresolved: " + name, fields: object{name: ref},
	}
}

func duplicate(values object) *failure {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+"="+encoded(values[name]))
	}
	return &failure{
		status: http.StatusConflict, code: 5, name: "unique constraint violation",
		message: "UNIQUE violation detected on '{" + strings.Join(parts, ",") + "}'", fields: values,
	}
}

func missing(id string) *failure {
	return &failure{
		status: http.StatusNotFound, code: 6, name: "not found",
		message: "could not find the entity with primary key '{id=\"" + id + "\"}'",
		fields:  object{"id": id},
	}
}

func badSize(text string) *failure {
	return &failure{status: http.StatusBadRequest, code: 9, name: "invalid size", message: text}
}

func badOffset(offset string) *failure {
	return &failure{
		status: http.StatusBadRequest, code: 7, name: "invalid offset", message: "'" + offset + "' is not a valid offset: bad base64 encoding",
	}
}

func badTags(text string) *failure {
	return &failure{
		status: http.StatusBadRequest, code: 11, name: "invalid options", message: "invalid option (tags: " + text + ")", options: object{"tags": text},
	}
}

func readOnly(verb, collection string) *failure {
	return &failure{
		status: http.StatusMethodNotAllowed, code: 12, name: "operation unsupported",
		message: fmt.Sprintf("cannot %s '%s' entities when not using a database", verb, collection),
	}
}
