// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"net/http"
	"testing"
)

const (
	get   = http.MethodGet
	post  = http.MethodPost
	put   = http.MethodPut
	patch = http.MethodPatch
	del   = http.MethodDelete
)

func TestK01SchemaErrors(t *testing.T) {
	g := withDatabase(t)
	o := g.refused(400, 2, post, "/services", object{"host": "a", "bogus": 1, "port": 70000, "protocol": "ftp", "retries": "x", "tags": "t"},
		"bogus", "port", "protocol", "retries", "tags")
	if at(o["fields"], "bogus") != "unknown field" || at(o["fields"], "port") != "value should be between 0 and 65535" {
		t.Errorf("fields %v", o["fields"])
	}
	g.refused(400, 2, post, "/services", object{"host": "a", "name": ""}, "name")
	g.refused(400, 2, post, "/services", object{"host": "a:80"}, "host")
	g.refused(400, 2, post, "/services", object{"host": "a", "read_timeout": 0}, "read_timeout")
	checks := object{"active": object{"timeout": "x"}}
	g.refused(400, 2, post, "/upstreams", object{"name": g.name("u"), "healthchecks": checks}, "healthchecks.active.timeout")
	g.refused(400, 2, post, "/plugins", object{"name": "rate-limiting", "config": object{"minute": "many"}}, "config.minute")
}

func TestK02ConditionalRules(t *testing.T) {
	g := withDatabase(t)
	g.refused(400, 2, post, "/services", object{}, "host")
	g.refused(400, 2, post, "/services", object{"host": "a", "protocol": "tcp", "path": "/x"}, "path", "@entity")
	g.refused(400, 2, post, "/services", object{"host": "a", "protocol": "http", "tls_verify": true}, "tls_verify")
	g.refused(400, 2, post, "/routes", object{"name": g.name("none")}, "@entity")
	g.refused(400, 2, post, "/routes", object{"paths": []any{"/"}, "protocols": []any{"http", "tcp"}}, "protocols")
	g.refused(400, 2, post, "/routes", object{"paths": []any{"/"}, "protocols": []any{"grpc"}}, "strip_path")
	g.refused(400, 2, post, "/routes", object{"hosts": []any{"a.example"}, "protocols": []any{"tls_passthrough"}})
	g.refused(400, 2, post, "/consumers", object{}, "@entity")
	g.refused(400, 2, post, "/upstreams", object{"name": g.name("u"), "hash_on": "header"}, "hash_on_header")
	g.refused(400, 2, post, "/upstreams", object{"name": g.name("u"), "hash_on": "none", "hash_fallback": "ip"})
	g.refused(400, 2, post, "/upstreams", object{"name": "127.0.0.1"}, "name")

	hashed := g.create("/upstreams", object{"name": g.name("hashed"), "hash_on": "ip"})
	if hashed["algorithm"] != "consistent-hashing" {
		t.Errorf("hash_on ip has algorithm %v", hashed["algorithm"])
	}
	least := g.create("/upstreams", object{"name": g.name("least"), "hash_on": "ip", "algorithm": "least-connections"})
	if least["algorithm"] != "least-connections" || least["hash_on"] != "none" {
		t.Errorf("least-connections wins over hash_on: %v, %v", least["algorithm"], least["hash_on"])
	}
	none := g.create("/upstreams", object{"name": g.name("plain"), "algorithm": "consistent-hashing"})
	if none["algorithm"] != "round-robin" {
		t.Errorf("consistent-hashing by nothing is stored as %v", none["algorithm"])
	}
}

func TestK03Defaults(t *testing.T) {
	g := withDatabase(t)
	s := g.create("/services", object{"name": g.name("s"), "host": "a.example", "retries": 1, "tags": []any{"x", "x"}})
	if s["port"] != 80.0 || s["protocol"] != "http" || s["connect_timeout"] != 60000.0 || s["enabled"] != true {
		t.Errorf("defaults: %v", s)
	}
	if path, shown := s["path"]; !shown || path != nil {
		t.Errorf("an unset path is shown as %v (%v), want null", path, shown)
	}
	if tags := list0(s["tags"]); len(tags) != 1 {
		t.Errorf("a set keeps duplicates: %v", tags)
	}
	replaced := g.want(200, put, "/services/"+s["id"].(string), object{"name": g.name("s"), "host": "b.example"})
	if replaced["retries"] != 5.0 || replaced["host"] != "b.example" || replaced["tags"] != nil {
		t.Errorf("PUT leaves old fields: %v", replaced)
	}
	u := g.create("/upstreams", object{"name": g.name("u"), "healthchecks": object{"active": object{"timeout": 9}}, "tags": []any{"a", "b"}})
	patched := g.want(200, patch, "/upstreams/"+u["id"].(string), object{"healthchecks": object{"threshold": 50}, "tags": []any{"c"}})
	if at(patched, "healthchecks.active.timeout") != 9.0 || at(patched, "healthchecks.threshold") != 50.0 || len(list0(patched["tags"])) != 1 {
		t.Errorf("PATCH merges records and replaces arrays: %v", patched)
	}
	cleared := g.want(200, patch, "/upstreams/"+u["id"].(string), object{"tags": nil})
	if cleared["tags"] != nil {
		t.Errorf("null clears: %v", cleared["tags"])
	}
}

func TestK04Ids(t *testing.T) {
	g := withDatabase(t)
	s := g.service("s")
	if !isUUID(s["id"].(string)) {
		t.Errorf("id %v", s["id"])
	}
	g.refused(400, 2, post, "/services", object{"id": "nonsense", "host": "a"}, "id")
	g.refused(400, 3, post, "/services", object{"id": s["id"], "host": "a"})
	g.want(404, get, "/services/nonsense", nil)
	if byName := g.want(200, get, "/services/"+g.name("s"), nil); byName["id"] != s["id"] {
		t.Errorf("found %v by name", byName)
	}
	made := g.want(200, put, "/services/"+g.name("by-key"), object{"host": "a"})
	g.forget("/services/" + g.name("by-key"))
	if made["name"] != g.name("by-key") {
		t.Errorf("PUT on a key makes %v", made)
	}
}

func TestK05Unique(t *testing.T) {
	g := withDatabase(t)
	s := g.service("s")
	o := g.refused(409, 5, post, "/services", object{"name": g.name("s"), "host": "b"}, "name")
	if o["name"] != "unique constraint violation" {
		t.Errorf("error %v", o)
	}
	c := g.create("/consumers", object{"username": g.name("c"), "custom_id": g.name("id")})
	other := g.create("/consumers", object{"username": g.name("other")})
	g.refused(409, 5, post, "/consumers", object{"username": g.name("c")}, "username")
	g.refused(409, 5, post, "/consumers", object{"username": g.name("d"), "custom_id": g.name("id")}, "custom_id")
	of := func(o object) string { return "/consumers/" + o["id"].(string) }
	g.want(201, post, of(c)+"/key-auth", object{"key": g.name("key")})
	g.refused(409, 5, post, of(other)+"/key-auth", object{"key": g.name("key")}, "key")
	g.want(201, post, of(c)+"/acls", object{"group": "g"})
	g.refused(409, 5, post, of(c)+"/acls", object{"group": "g"})
	g.want(201, post, of(other)+"/acls", object{"group": "g"})
	u := g.create("/upstreams", object{"name": g.name("u")})
	targets := "/upstreams/" + u["id"].(string) + "/targets"
	g.want(201, post, targets, object{"target": "10.0.0.1:80"})
	g.refused(409, 5, post, targets, object{"target": "10.0.0.1:80"})
	g.create("/plugins", object{"name": "key-auth", "service": ref(s)})
	g.refused(409, 5, post, "/plugins", object{"name": "key-auth", "service": ref(s)})
	cert, key := pair(t, "a.example", false)
	certificate := g.create("/certificates", object{"cert": cert, "key": key})
	g.create("/snis", object{"name": g.name("a.example"), "certificate": ref(certificate)})
	g.refused(409, 5, post, "/snis", object{"name": g.name("a.example"), "certificate": ref(certificate)}, "name")
	ca, _ := pair(t, "ca", true)
	g.create("/ca_certificates", object{"cert": ca})
	g.refused(409, 5, post, "/ca_certificates", object{"cert": ca})
}

func TestK06References(t *testing.T) {
	g := withDatabase(t)
	nobody := object{"id": "11111111-1111-4111-8111-111111111111"}
	g.refused(400, 4, post, "/routes", object{"paths": []any{"/"}, "service": nobody}, "service")
	g.refused(400, 13, post, "/routes", object{"paths": []any{"/"}, "service": object{"name": g.name("nobody")}})
	g.refused(400, 2, post, "/snis", object{"name": g.name("a.example")}, "certificate")
	s := g.service("s")
	r := g.create("/routes", object{"paths": []any{"/" + g.unique}, "service": object{"name": g.name("s")}})
	if idOf(r["service"]) != s["id"] {
		t.Errorf("a reference by name leads to %v", r["service"])
	}
}

func TestK07RestrictAndCascade(t *testing.T) {
	g := withDatabase(t)
	s := g.service("s")
	r := g.create("/routes", object{"name": g.name("r"), "paths": []any{"/" + g.unique}, "service": ref(s)})
	o := g.refused(400, 4, del, "/services/"+s["id"].(string), nil)
	if at(o["fields"], "@referenced_by") != "routes" {
		t.Errorf("error %v", o)
	}
	p := g.create("/plugins", object{"name": "cors", "route": ref(r)})
	g.want(204, del, "/routes/"+r["id"].(string), nil)
	g.want(404, get, "/plugins/"+p["id"].(string), nil)
	g.want(204, del, "/services/"+s["id"].(string), nil)

	c := g.create("/consumers", object{"username": g.name("c")})
	k := g.want(201, post, "/consumers/"+c["id"].(string)+"/key-auth", object{})
	g.want(204, del, "/consumers/"+c["id"].(string), nil)
	g.want(404, get, "/key-auths/"+k["id"].(string), nil)

	cert, key := pair(t, "a.example", false)
	certificate := g.create("/certificates", object{"cert": cert, "key": key})
	user := g.create("/services", object{"name": g.name("tls"), "host": "a", "protocol": "https", "client_certificate": ref(certificate)})
	g.refused(400, 4, del, "/certificates/"+certificate["id"].(string), nil)
	g.want(204, del, "/services/"+user["id"].(string), nil)
	sni := g.create("/snis", object{"name": g.name("a.example"), "certificate": ref(certificate)})
	g.want(204, del, "/certificates/"+certificate["id"].(string), nil)
	g.want(404, get, "/snis/"+sni["id"].(string), nil)

	ca, _ := pair(t, "ca", true)
	authority := g.create("/ca_certificates", object{"cert": ca})
	user = g.create("/services", object{"name": g.name("ca"), "host": "a", "protocol": "https", "ca_certificates": []any{authority["id"]}})
	g.refused(400, 19, del, "/ca_certificates/"+authority["id"].(string), nil)
	g.want(204, del, "/services/"+user["id"].(string), nil)
}

func TestK08NestedPaths(t *testing.T) {
	g := withDatabase(t)
	s, other := g.service("s"), g.service("other")
	of := func(o object) string { return "/services/" + o["id"].(string) }
	r := g.want(201, post, of(s)+"/routes", object{"paths": []any{"/" + g.unique}})
	g.forget("/routes/" + r["id"].(string))
	if idOf(r["service"]) != s["id"] {
		t.Errorf("POST below a service refers to %v", r["service"])
	}
	g.want(404, get, "/services/nobody/routes", nil)
	g.want(404, get, of(other)+"/routes/"+r["id"].(string), nil)
	g.want(200, get, of(s)+"/routes/"+r["id"].(string), nil)
	g.want(404, get, "/targets", nil)
	if parent := g.want(200, get, "/routes/"+r["id"].(string)+"/service", nil); parent["id"] != s["id"] {
		t.Errorf("the parent is %v", parent)
	}
	g.want(405, del, "/routes/"+r["id"].(string)+"/service", nil)
	g.want(404, del, "/services/nobody/routes/"+r["id"].(string), nil)
}

func TestK09Verbs(t *testing.T) {
	g := withDatabase(t)
	id := randomID()
	g.want(200, put, "/services/"+id, object{"name": g.name("s"), "host": "a"})
	g.forget("/services/" + id)
	g.refused(404, 6, patch, "/services/"+randomID(), object{"host": "a"})
	g.want(204, del, "/services/"+randomID(), nil)
	old := g.want(200, put, "/services/"+id, object{"name": g.name("s"), "host": "a", "created_at": 1000})
	if old["created_at"] != 1000.0 {
		t.Errorf("created_at of the body is not kept: %v", old["created_at"])
	}
	if renewed := g.want(200, put, "/services/"+id, object{"name": g.name("s"), "host": "a"}); renewed["created_at"] == 1000.0 {
		t.Error("PUT keeps created_at")
	}
	u := g.create("/upstreams", object{"name": g.name("u")})
	targets := "/upstreams/" + u["id"].(string) + "/targets"
	g.want(404, put, targets+"/"+randomID(), object{"target": "10.0.0.1:80"})
	target := g.want(201, post, targets, object{"target": "10.0.0.1:80", "weight": 7})
	merged := g.want(200, put, targets+"/"+target["id"].(string), object{"tags": []any{"x"}})
	if merged["weight"] != 7.0 || merged["target"] != "10.0.0.1:80" {
		t.Errorf("PUT on a target merges: %v", merged)
	}
	g.want(204, del, targets+"/"+target["id"].(string), nil)
	g.want(404, del, "/upstreams/nobody/targets/"+target["id"].(string), nil)
}
