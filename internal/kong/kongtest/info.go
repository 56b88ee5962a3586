// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// information answers what is about the gateway and not about an entity.
func (q *request) information() (reply, bool) {
	first := ""
	if len(q.segments) > 0 {
		first = q.segments[0]
	}
	verbs := map[string][]string{
		"": {http.MethodGet}, "status": {http.MethodGet}, "endpoints": {http.MethodGet}, "tags": {http.MethodGet},
		"config": {http.MethodGet, http.MethodPost}, "schemas": {http.MethodGet, http.MethodPost},
	}
	known, ours := verbs[first]
	if !ours {
		return reply{}, false
	}
	if !slices.Contains(known, q.method) {
		return failed(notAllowed), true
	}
	switch first {
	case "":
		return reply{status: http.StatusOK, value: q.root()}, true
	case "status":
		return q.status(), true
	case "config":
		return q.config(), true
	case "schemas":
		return q.schema(), true
	case "tags":
		return q.tags(), true
	}
	endpoints := []any{}
	for _, sc := range q.order {
		if sc.path != "" {
			endpoints = append(endpoints, "/"+sc.path)
		}
	}
	return reply{status: http.StatusOK, value: object{"data": endpoints}}, true
}

func (q *request) root() object {
	available := object{}
	for _, name := range q.plugins {
		available[name] = true
		if q.version.atLeast(version{3, 0}) {
			available[name] = object{"version": q.versionText, "priority": 1000}
		}
	}
	database := "postgres"
	if q.dbless {
		database = "off"
	}
	root := object{
		"version": q.versionText, "tagline": "Welcome to kong", "hostname": "simulator", "node_id": "f0000000-0000-4000-8000-000000000000",
		"plugins": object{"available_on_server": available, "enabled_in_cluster": []any{}},
		"configuration": object{
			"database": database, "router_flavor": q.flavor, "role": "traditional",
			"proxy_listeners":  []any{object{"ip": "0.0.0.0", "port": 8000, "ssl": false}, object{"ip": "0.0.0.0", "port": 8443, "ssl": true}},
			"stream_listeners": []any{object{"ip": "0.0.0.0", "port": 9000, "ssl": false}},
		},
	}
	if q.version.atLeast(version{3, 6}) {
		root["edition"] = map[bool]string{false: "community", true: "enterprise"}[q.enterprise]
	}
	if !q.version.atLeast(version{3, 0}) {
		delete(root["configuration"].(object), "router_flavor")
	}
	return root
}

func (q *request) status() reply {
	if len(q.segments) == 2 && q.segments[1] == "ready" && q.version.atLeast(version{3, 3}) {
		if q.dbless && q.loaded.hash == zeroHash {
			return reply{status: http.StatusServiceUnavailable, value: object{"message": "no configuration available (empty configuration present)"}}
		}
		return reply{status: http.StatusOK, value: object{"message": "ready"}}
	}
	if len(q.segments) > 1 {
		return failed(notFound)
	}
	status := object{"server": object{"connections_active": 1}, "memory": object{}}
	if q.dbless {
		status["configuration_hash"] = q.loaded.hash
	} else {
		status["database"] = object{"reachable": true}
	}
	return reply{status: http.StatusOK, value: status}
}

// schema answers for /schemas/{entity}, /schemas/plugins/{name} and the two kinds of /validate.
func (q *request) schema() reply {
	path := strings.Join(q.segments[1:], "/")
	if q.method == http.MethodPost {
		name, isValidate := strings.CutSuffix(path, "/validate")
		sc := q.schemas[name]
		if !isValidate || sc == nil {
			return failed(notFound)
		}
		body, problem := q.object()
		if problem != nil {
			return *problem
		}
		delete(body, "snis")
		w := &writing{sim: q.Simulator, schema: sc, sent: body}
		if _, f := w.settle(randomID()); f != nil {
			return failed(f)
		}
		return reply{status: http.StatusOK, value: object{"message": "schema validation successful"}}
	}
	fields := []field(nil)
	if name, ok := strings.CutPrefix(path, "plugins/"); ok {
		p, known := q.pluginTable[name]
		if !known || !slices.Contains(q.plugins, name) {
			return reply{status: http.StatusNotFound, value: object{"message": "No plugin named '" + name + "'"}}
		}
		fields = []field{{name: "config", is: record, required: true, fields: p.fields}}
	} else if sc := q.schemas[path]; sc != nil {
		fields = sc.fields
	} else {
		return reply{status: http.StatusNotFound, value: object{"message": "No entity named '" + path + "'"}}
	}
	return reply{status: http.StatusOK, value: object{"fields": described(fields)}}
}

// described gives a schema as Kong shows it: a list of maps with one key each.
func described(fields []field) []any {
	names := map[shape]string{
		text: "string", integer: "integer", number: "number", boolean: "boolean", array: "array", set: "set", mapping: "map", record: "record",
		reference: "foreign", free: "record",
	}
	list := []any{}
	for _, f := range fields {
		d := object{"type": names[f.is], "required": f.required}
		if f.fallback != nil {
			d["default"] = f.fallback
		}
		if f.fields != nil {
			d["fields"] = described(f.fields)
		}
		list = append(list, object{f.name: d})
	}
	return list
}

// tags lists who has which tag.
func (q *request) tags() reply {
	data := []any{}
	for _, sc := range q.order {
		for _, id := range slices.Sorted(maps.Keys(q.store.all(sc.name))) {
			for _, tag := range texts(q.store.get(sc.name, id)["tags"]) {
				if len(q.segments) == 1 || q.segments[1] == tag {
					data = append(data, object{"tag": tag, "entity_name": sc.name, "entity_id": id})
				}
			}
		}
	}
	return reply{status: http.StatusOK, value: object{"data": data, "next": nil}}
}
