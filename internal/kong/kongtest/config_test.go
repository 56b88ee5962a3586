// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"strings"
	"testing"
)

const (
	emptyish = `{"_format_version":"3.0","upstreams":[{"name":"kong"}]}`
	one      = `{"_format_version":"3.0","services":[{"id":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000001","name":"a","host":"a.example","tags":["k8s-name:a"]}],
"routes":[{"id":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000002","name":"r","paths":["/a"],"service":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000001"}]}`
)

func (g *gateway) load(text, query string) answer {
	g.t.Helper()
	return g.send(post, "/config"+query, "text/yaml", text)
}

func (g *gateway) hash() string {
	g.t.Helper()
	hash, _ := g.want(200, get, "/status", nil)["configuration_hash"].(string)
	return hash
}

func TestK19ReadOnly(t *testing.T) {
	g := withoutDatabase(t)
	g.load(emptyish, "")
	g.refused(400, 2, post, "/services", object{"bogus": 1})
	o := g.refused(405, 12, post, "/services", object{"host": "a"})
	if o["message"] != "cannot create 'services' entities when not using a database" {
		t.Errorf("message %v", o["message"])
	}
	g.want(204, del, "/services/"+randomID(), nil)
	g.want(404, patch, "/services/"+randomID(), object{"host": "a"})
	g.want(200, get, "/services", nil)
	withDatabase(t).want(400, get, "/config", nil)
}

func TestK19Config(t *testing.T) {
	g := withoutDatabase(t)
	if a := g.load(one, ""); a.status != 201 {
		t.Fatalf("status %d: %s", a.status, a.text)
	}
	if got := g.hash(); got != sum(one) {
		t.Errorf("hash %s, want the MD5 of the text, %s", got, sum(one))
	}
	if a := g.load(one, "?check_hash=1"); a.status != 304 {
		t.Errorf("the same again with check_hash: %d", a.status)
	}
	if s := g.want(200, get, "/services/a", nil); s["host"] != "a.example" || s["port"] != 80.0 {
		t.Errorf("service %v", s)
	}
	if a := g.do(post, "/config", object{"config": emptyish}); a.status != 201 || g.hash() != sum(emptyish) {
		t.Errorf("the text in an object: %d, hash %s", a.status, g.hash())
	}
	if a := g.do(post, "/config", one); a.status != 201 || g.hash() == sum(one) {
		t.Errorf("as an object: %d, the hash is that of the text: %v", a.status, g.hash() == sum(one))
	}
	if text, _ := g.want(200, get, "/config", nil)["config"].(string); !strings.Contains(text, "a.example") {
		t.Errorf("GET /config: %s", text)
	}
}

func TestK19Refusals(t *testing.T) {
	g := withoutDatabase(t)
	g.load(one, "")
	broken := strings.Replace(one, `"host":"a.example"`, `"host":"a.example","bogus":1`, 1)
	a := g.load(broken, "?flatten_errors=1")
	if a.status != 400 || a.body["code"] != 14.0 {
		t.Fatalf("status %d: %s", a.status, a.text)
	}
	flat, _ := list0(a.body["flattened_errors"])[0].(object)
	if flat["entity_type"] != "service" || flat["entity_name"] != "a" || len(list0(flat["errors"])) != 1 ||
		list0(flat["entity_tags"])[0] != "k8s-name:a" {
		t.Errorf("flattened error %v", flat)
	}
	if a := g.load(broken, ""); a.status != 400 || a.body["flattened_errors"] != nil || a.body["fields"] == nil {
		t.Errorf("without the flag: %d %s", a.status, a.text)
	}
	if g.hash() != sum(one) {
		t.Error("a document that was refused changed something")
	}
	dangling := strings.Replace(one, `"service":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000001"`, `"service":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000009"`, 1)
	if a := g.load(dangling, "?flatten_errors=1"); a.status != 400 || len(list0(a.body["flattened_errors"])) != 0 {
		t.Errorf("a reference to nothing, flattened: %d %s", a.status, a.text)
	}
	if a := g.load(dangling, ""); a.status != 400 || !strings.Contains(a.text, "invalid reference") {
		t.Errorf("a reference to nothing: %d %s", a.status, a.text)
	}
	orphan := `{"_format_version":"3.0","plugins":[{"name":"cors","route":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000009"}]}`
	if a := g.load(orphan, "?flatten_errors=1"); a.status != 500 {
		t.Errorf("a plugin of nothing: %d %s", a.status, a.text)
	}
	double := `{"_format_version":"3.0","services":[{"name":"a","host":"a","id":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000001"},` +
		`{"name":"a","host":"b","id":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000002"}]}`
	if a := g.load(double, "?flatten_errors=1"); a.status != 400 || !strings.Contains(a.text, "already declared") {
		t.Errorf("a name twice: %d %s", a.status, a.text)
	}
}

func TestK20Declarative(t *testing.T) {
	g := withoutDatabase(t)
	nested := `
_format_version: "3.0"
services:
- name: a
  host: a.example
  routes:
  - name: r
    paths: [/a]
    plugins:
    - name: cors
consumers:
- username: ann
  keyauth_credentials:
  - key: k
plugins:
- name: key-auth
  service: a
`
	if a := g.load(nested, ""); a.status != 201 {
		t.Fatalf("nested: %d %s", a.status, a.text)
	}
	s := g.want(200, get, "/services/a", nil)
	if s["id"] != derivedID("services", "a") {
		t.Errorf("id %v, want that of the name", s["id"])
	}
	if r := g.want(200, get, "/routes/r", nil); idOf(r["service"]) != s["id"] {
		t.Errorf("route %v", r)
	}
	if list := g.want(200, get, "/plugins", nil); len(list0(list["data"])) != 2 {
		t.Errorf("plugins %v", list)
	}
	for _, wrong := range []string{
		`{"services":[]}`, `{"_format_version":"9.0"}`, `{"_format_version":"3.0","bogus":[]}`, `{"_format_version":"3.0","_info":{}}`, "{", "[]",
	} {
		if a := g.load(wrong, ""); a.status != 400 {
			t.Errorf("%s: %d %s", wrong, a.status, a.text)
		}
	}
}

func TestK21Restart(t *testing.T) {
	g := simulated(t, Options{DBLess: true})
	g.load(one, "")
	g.want(200, get, "/status/ready", nil)
	g.sim.Restart()
	if g.hash() != zeroHash {
		t.Errorf("hash after a restart: %s", g.hash())
	}
	g.want(503, get, "/status/ready", nil)
	g.want(404, get, "/services/a", nil)
	db := simulated(t, Options{})
	db.service("s")
	db.sim.Restart()
	db.want(200, get, "/services/"+db.name("s"), nil)
}

func TestK25Router(t *testing.T) {
	g := simulated(t, Options{DBLess: true})
	if a := g.load(`
_format_version: "3.0"
upstreams:
- {name: up.svc, targets: [{target: "10.0.0.1:80"}, {target: "10.0.0.2:80", weight: 0}]}
- {name: none.svc}
services:
- name: s
  host: up.svc
  path: /base
  routes:
  - {name: prefix, paths: [/foo], strip_path: true}
  - {name: exact, paths: ["~/foo$"], hosts: [a.example], preserve_host: true, strip_path: false}
  - {name: wild, paths: [/foo], hosts: ["*.example"], strip_path: false}
  - {name: secure, paths: [/secure], protocols: [https], https_redirect_status_code: 308}
- name: empty
  host: none.svc
  routes:
  - {name: empty, paths: [/empty], plugins: [{name: cors}]}
`, ""); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.text)
	}
	for _, c := range []struct {
		request Request
		want    Answer
	}{
		{Request{Host: "x.test", Path: "/foo/bar"}, Answer{Status: 200, Route: "prefix", Service: "s", Upstream: "up.svc", Path: "/base/bar"}},
		{Request{Host: "x.test", Path: "/foobar?q"}, Answer{Status: 200, Route: "prefix", Service: "s", Upstream: "up.svc", Path: "/base/bar?q"}},
		{Request{Host: "a.example:80", Path: "/foo"}, Answer{
			Status: 200, Route: "exact", Service: "s", Upstream: "up.svc", Path: "/base/foo", Host: "a.example:80",
		}},
		{Request{Host: "b.example", Path: "/foo"}, Answer{Status: 200, Route: "wild", Service: "s", Upstream: "up.svc", Path: "/base/foo"}},
		{Request{Host: "b.example", Path: "/secure"}, Answer{Status: 308, Route: "secure"}},
		{Request{Host: "b.example", Path: "/empty"}, Answer{Status: 503, Route: "empty", Service: "empty", Upstream: "none.svc", Path: "/"}},
		{Request{Host: "b.example", Path: "/none"}, Answer{Status: 404}},
	} {
		got := g.sim.Route(c.request)
		targets, plugins := got.Targets, got.Plugins
		got.Targets, got.Plugins = nil, nil
		if encoded(got) != encoded(c.want) {
			t.Errorf("%+v: %+v, want %+v", c.request, got, c.want)
		}
		if c.want.Upstream == "up.svc" && (len(targets) != 1 || targets[0] != "10.0.0.1:80") || c.want.Route == "empty" && len(plugins) != 1 {
			t.Errorf("%+v: targets %v, plugins %v", c.request, targets, plugins)
		}
	}
}
