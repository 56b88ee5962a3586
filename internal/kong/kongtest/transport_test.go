// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestK18Transport(t *testing.T) {
	g := withDatabase(t)
	if a := g.send(post, "/services", "text/plain", "x"); a.status != 415 || !strings.Contains(a.text, "<html>") {
		t.Errorf("another content type: %d %s", a.status, a.text)
	}
	if a := g.send(post, "/services", "application/json", "{"); a.status != 400 || a.body["message"] != "Cannot parse JSON body" {
		t.Errorf("no JSON: %d %s", a.status, a.text)
	}
	if a := g.do(get, "/nowhere", nil); a.status != 404 || a.body["message"] != "Not found" {
		t.Errorf("unknown path: %d %s", a.status, a.text)
	}
	if a := g.do(del, "/services", nil); a.status != 405 || a.body["message"] != "Method not allowed" {
		t.Errorf("wrong verb: %d %s", a.status, a.text)
	}
	g.want(200, get, "/services/", nil)
	if a := g.do(http.MethodHead, "/services", nil); a.status != 200 || a.text != "" {
		t.Errorf("HEAD: %d %q", a.status, a.text)
	}
	if a := g.do(http.MethodOptions, "/services", nil); a.status != 204 || a.header.Get("Allow") == "" {
		t.Errorf("OPTIONS: %d %v", a.status, a.header)
	}
	if a := g.do(get, "/", nil); !strings.HasPrefix(a.header.Get("Server"), "kong/") || a.body["version"] == nil {
		t.Errorf("root: %v %s", a.header, a.text)
	}
}

func TestK18BodyLimit(t *testing.T) {
	g := simulated(t, Options{MaxBody: 100})
	if a := g.do(post, "/services", object{"host": strings.Repeat("a", 200)}); a.status != 413 || !strings.Contains(a.text, "<html>") {
		t.Errorf("too much: %d %s", a.status, a.text)
	}
}

func TestK22Token(t *testing.T) {
	g := simulated(t, Options{Token: "right"})
	g.want(200, get, "/services", nil)
	for _, wrong := range []string{"", "wrong"} {
		g.token = wrong
		if a := g.do(get, "/services", nil); a.status != 401 || a.body["message"] == nil || a.body["code"] != nil {
			t.Errorf("token %q: %d %s", wrong, a.status, a.text)
		}
	}
}

func TestK23Faults(t *testing.T) {
	g := simulated(t, Options{})
	next := &Fault{Status: 429, RetryAfter: "3"}
	g.sim.Inject(func(Call) *Fault { f := next; next = nil; return f })
	if a := g.do(get, "/services", nil); a.status != 429 || a.header.Get("Retry-After") != "3" {
		t.Errorf("busy: %d %v", a.status, a.header)
	}
	for _, c := range []struct {
		fault Fault
		kept  bool
	}{{Fault{Cut: true}, false}, {Fault{Cut: true, Applied: true}, true}, {Fault{Half: true}, true}, {Fault{Status: 502, Body: "<html>"}, false}} {
		fault := c.fault
		next = &fault
		name := randomText()
		request, err := http.NewRequestWithContext(t.Context(), post, g.url+"/services", strings.NewReader(`{"host":"a","name":"`+name+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
		}
		if kept := g.do(get, "/services/"+name, nil).status == 200; kept != c.kept {
			t.Errorf("after %+v the service is there: %v, want %v", c.fault, kept, c.kept)
		}
	}
	if calls := g.sim.Writes(); len(calls) == 0 {
		t.Error("nothing was counted")
	}
}

func TestK23Clock(t *testing.T) {
	now := time.Unix(5000, 0)
	g := simulated(t, Options{Now: func() time.Time { return now }})
	a := g.create("/services", object{"host": "a"})
	now = time.Unix(10, 0)
	b := g.create("/services", object{"host": "b"})
	if a["created_at"] != 5000.0 || b["created_at"] != 10.0 {
		t.Errorf("created_at %v, then %v", a["created_at"], b["created_at"])
	}
}

func TestK24OtherNode(t *testing.T) {
	g := simulated(t, Options{})
	s := g.service("s")
	node := g.sim.Snapshot()
	g.create("/routes", object{"paths": []any{"/"}, "service": ref(s)})
	if status := node.Route(Request{Path: "/"}).Status; status != 404 {
		t.Errorf("the other node answers %d before it has seen the route", status)
	}
	if status := g.sim.Snapshot().Route(Request{Path: "/"}).Status; status == 404 {
		t.Error("the other node does not see the route later")
	}
}
