// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import "testing"

func TestExpressionsAreOfTheirFlavor(t *testing.T) {
	expression := object{"expression": `http.path ^= "/a"`, "priority": 7}
	g := simulated(t, Options{})
	g.refused(400, 2, post, "/routes", expression, "expression", "priority")
	g = simulated(t, Options{Flavor: "expressions"})
	if o := g.create("/routes", expression); o["priority"] != 7.0 {
		t.Errorf("route %v", o)
	}
	g.refused(400, 2, post, "/routes", object{"expression": `http.path ^= "/a"`, "paths": []any{"/a"}}, "@entity")
	g.refused(400, 2, post, "/routes", object{"expression": `http.path ^= "/a"`, "priority": 1 << 46}, "priority")
	g.refused(400, 2, post, "/routes", object{"priority": 1}, "@entity")
	for _, broken := range []string{
		`http.path`, `http.path ^=`, `http.path ^= /a`, `http.path ^= "/a`, `http.path ~ "("`, `(http.path == "/a"`, `http.path == "/a" http.path == "/b"`,
		`nobody.knows == "a"`, `http.path == "\a"`, `net.dst.port == "80"`, `http.path == "/a" && `,
	} {
		g.refused(400, 2, post, "/routes", object{"expression": broken}, "expression")
	}
}

func TestRouterEvaluatesExpressions(t *testing.T) {
	g := simulated(t, Options{Flavor: "expressions"})
	service := g.service("a")
	for name, o := range map[string]object{
		"prefix": {"expression": `(net.protocol == "http" || net.protocol == "https") && http.host == "a.example" && http.path ^= "/a"`, "priority": 1},
		"exact":  {"expression": `http.host == "a.example" && http.path == "/a/b"`, "priority": 2},
		"regex":  {"expression": `http.host ~ "^[^.]+\\.b\\.example$" && (http.method == "GET" || http.method == "PUT")`, "priority": 1},
		"header": {"expression": `http.headers.x_kind == "say \"hi\"" && http.path ^= "/a"`, "priority": 3},
		"secure": {"expression": `http.path ^= "/secure"`, "priority": 1, "protocols": []any{"https"}},
	} {
		o["name"], o["service"] = name, ref(service)
		g.create("/routes", o)
	}
	for _, c := range []struct {
		request Request
		want    string
		status  int
	}{
		{Request{Host: "A.example:8000", Path: "/a/x"}, "prefix", 200},
		{Request{Scheme: "https", Host: "a.example", Path: "/a/./b?x"}, "exact", 200},
		{Request{Host: "x.b.example", Path: "/"}, "regex", 200},
		{Request{Host: "x.y.b.example", Path: "/"}, "", 404},
		{Request{Host: "x.b.example", Method: "POST", Path: "/"}, "", 404},
		{Request{Host: "a.example", Path: "/a", Header: map[string]string{"X-Kind": `say "hi"`}}, "header", 200},
		{Request{Host: "a.example", Path: "/secure"}, "secure", 426},
		{Request{Scheme: "https", Host: "a.example", Path: "/secure"}, "secure", 200},
	} {
		if a := g.sim.Route(c.request); a.Route != c.want || a.Status != c.status {
			t.Errorf("%+v: %+v, want %s %d", c.request, a, c.want, c.status)
		}
	}
}

func TestServiceURL(t *testing.T) {
	g := simulated(t, Options{})
	o := g.create("/services", object{"name": g.name("url"), "url": "https://a.example:8443/v1"})
	if o["protocol"] != "https" || o["host"] != "a.example" || o["port"] != 8443.0 || o["path"] != "/v1" {
		t.Errorf("service %v", o)
	}
	if _, shown := o["url"]; shown {
		t.Error("the shorthand is shown")
	}
	o = g.want(200, patch, "/services/"+o["id"].(string), object{"url": "http://b.example"})
	if o["protocol"] != "http" || o["host"] != "b.example" || o["port"] != 80.0 || o["path"] != nil {
		t.Errorf("service %v", o)
	}
	g.refused(400, 2, post, "/services", object{"url": "nowhere"}, "url")
	g.refused(400, 2, post, "/services", object{"url": 7}, "url")
	g.refused(400, 2, post, "/services", object{"url": "ftp://a.example"}, "protocol")
}
