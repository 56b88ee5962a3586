// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"maps"
	"net/http"
	"slices"
)

// The workspace of all that names none, and its id, which is the same everywhere.
const (
	defaultWorkspace   = "default"
	defaultWorkspaceID = "0dc6f45b-8f8d-40d2-a504-473544ee190b"
)

// enter takes a workspace off the path, and answers what is about workspaces themselves. From then on there is nothing but what is in it.
func (q *request) enter() (reply, bool) {
	if q.workspaces == nil || len(q.segments) == 0 {
		return reply{}, false
	}
	first, rest := q.segments[0], q.segments[1:]
	if first == "workspaces" {
		return q.listWorkspaces(rest), true
	}
	db := q.workspaces[first]
	if first == defaultWorkspace {
		db = q.store
	}
	switch {
	case db == nil:
		return reply{}, false
	case len(rest) == 1 && rest[0] == "kong" && q.method == http.MethodGet:
		return reply{status: http.StatusOK, value: q.root()}, true
	case len(rest) == 0 || q.byPath(rest[0]) == nil || rest[0] == "ca_certificates":
		return failed(notFound), true // the latter are in no workspace
	}
	q.Simulator, q.segments = q.over(db), rest
	return reply{}, false
}

// listWorkspaces answers for /workspaces and /workspaces/{name}.
func (q *request) listWorkspaces(rest []string) reply {
	shown := func(name string) object {
		id := defaultWorkspaceID
		if name != defaultWorkspace {
			id = derivedID("workspaces", name)
		}
		return object{"id": id, "name": name}
	}
	exists := func(name string) bool { return name == defaultWorkspace || q.workspaces[name] != nil }
	switch {
	case len(rest) > 1:
		return failed(notFound)
	case q.method == http.MethodGet && len(rest) == 1:
		if !exists(rest[0]) {
			return failed(notFound)
		}
		return reply{status: http.StatusOK, value: shown(rest[0])}
	case q.method == http.MethodGet:
		data := []any{shown(defaultWorkspace)}
		for _, name := range slices.Sorted(maps.Keys(q.workspaces)) {
			data = append(data, shown(name))
		}
		return reply{status: http.StatusOK, value: object{"data": data, "next": nil}}
	case q.method != http.MethodPost || len(rest) == 1:
		return failed(notAllowed)
	}
	body, problem := q.object()
	if problem != nil {
		return *problem
	}
	name, _ := body["name"].(string)
	switch {
	case name == "":
		return failed(violation(object{"name": "required field missing"}))
	case exists(name):
		return failed(duplicate(object{"name": name}))
	}
	q.workspaces[name] = q.store.workspace()
	return reply{status: http.StatusCreated, value: shown(name)}
}
