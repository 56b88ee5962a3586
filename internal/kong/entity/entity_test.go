// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

func sample() []Entity {
	owner := Meta{Owner: model.Ref{Kind: "Ingress", Namespace: "shop", Name: "web"}}
	with := func(id string) Meta { m := owner; m.ID = id; return m }
	upstream := &Upstream{Meta: with("u1"), Name: "cart.shop.80.svc"}
	service := &Service{Meta: with("s1"), Name: "shop.cart.80", Host: upstream.Name, Port: 80, Path: "/", Retries: new(0)}
	route := &Route{
		Meta: with("r1"), Name: "shop.web.cart..80", Protocols: []string{"https", "http", "http"}, Paths: []string{"/b<c", "/a"},
		StripPath: new(false), Service: RefTo(service),
	}
	consumer := &Consumer{Meta: with("c1"), Username: "ann"}
	return []Entity{
		route,
		&Plugin{Meta: with("p1"), Name: "key-auth", Route: RefTo(route), Config: map[string]any{
			"key_names": []any{"k"}, "anonymous": nil, "limit": json.Number("1.50"), "hidden": model.NewSecret("x"),
		}},
		service, upstream,
		&Target{Meta: with("t1"), Target: "10.0.0.1:80", Weight: new(0), Upstream: RefTo(upstream)},
		consumer,
		&KeyAuth{Meta: with("k1"), Consumer: RefTo(consumer), Key: model.NewSecret("open sesame")},
	}
}

func TestDocument(t *testing.T) {
	const want = `{"_format_version":"3.0",
"consumers":[
{"id":"c1","username":"ann"}],
"keyauth_credentials":[
{"consumer":"c1","id":"k1","key":"open sesame"}],
"plugins":[
{"config":{"anonymous":null,"hidden":"x","key_names":["k"],"limit":1.50},"id":"p1","name":"key-auth","route":"r1"}],
"routes":[
{"id":"r1","name":"shop.web.cart..80","paths":["/b<c","/a"],"protocols":["http","https"],"service":"s1","strip_path":false}],
"services":[
{"host":"cart.shop.80.svc","id":"s1","name":"shop.cart.80","path":"/","port":80,"retries":0}],
"targets":[
{"id":"t1","target":"10.0.0.1:80","upstream":"u1","weight":0}],
"upstreams":[
{"id":"u1","name":"cart.shop.80.svc"}]}
`
	s := NewState(sample())
	got := string(s.Document(Version{3, 9}, Flat))
	if got != want {
		t.Errorf("document:\n%s\nwant:\n%s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("the document is no JSON")
	}
	if again := string(NewState(sample()).Document(Version{3, 9}, Flat)); again != got {
		t.Error("equal states give different documents")
	}
	redacted := string(s.Document(Version{2, 8}, Redacted))
	if strings.Contains(redacted, "sesame") || !strings.Contains(redacted, `"_format_version":"2.1"`) {
		t.Errorf("redacted document for 2.8:\n%s", redacted)
	}
}

func TestEmptyDocument(t *testing.T) {
	if got := string(NewState(nil).Document(Version{3, 4}, Flat)); !strings.Contains(got, `"name":"kong"`) {
		t.Errorf("an empty state without the stub never makes a gateway ready: %s", got)
	}
}

func TestBody(t *testing.T) {
	route := sample()[0]
	got := string(Encode(route, Body, []string{"b", "a"}))
	const want = `{"id":"r1","name":"shop.web.cart..80","paths":["/b<c","/a"],"protocols":["http","https"],"service":{"id":"s1"},` +
		`"strip_path":false,"tags":["a","b"]}`
	if got != want {
		t.Errorf("body %s\nwant %s", got, want)
	}
}

func TestCheck(t *testing.T) {
	if faults := NewState(sample()).Check(); len(faults) != 0 {
		t.Fatalf("a sound state has faults: %v", faults)
	}
	twin := &Service{Meta: Meta{ID: "s2", Owner: model.Ref{Kind: "Ingress", Name: "b"}}, Name: "shop.cart.80"}
	lost := &Route{Meta: Meta{ID: "r2"}, Service: &Reference{"nowhere"}}
	same := &Plugin{Meta: Meta{ID: "p2"}, Name: "key-auth", Route: &Reference{"r1"}}
	faults := NewState(append(sample(), twin, lost, same)).Check()
	if len(faults) != 3 || faults[0].Entity != twin || faults[1].Entity != lost || faults[2].Entity != same {
		t.Errorf("faults %v, want those of s2, r2, p2", faults)
	}
}

func TestIDs(t *testing.T) {
	// uuid5(uuid5(fd02801f-0957-4a15-a55a-c8d9606f30b5, "services"), "shop.cart.80") of Python's uuid module.
	if got, want := NewID(Services, "shop.cart.80"), "f2b0d317-235f-5f6a-9682-a76a0afa5a05"; got != want {
		t.Errorf("id %s, want %s", got, want)
	}
}

func TestKinds(t *testing.T) {
	rank := map[string]int{}
	for _, kind := range Kinds() {
		rank[kind.Name] = kind.Rank
		for _, key := range kind.Foreign {
			if to, known := rank[key.Kind]; !known || to >= kind.Rank {
				t.Errorf("%s refers to %s, which is not created before it", kind.Name, key.Kind)
			}
		}
		if KindNamed(kind.Name) != kind {
			t.Errorf("%s is not found by its name", kind.Name)
		}
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]Version{"3.9.1": {3, 9}, "3.9.0.1": {3, 9}, "2.8.5": {2, 8}, "3.10.0-dev": {3, 10}, "3.10-dev": {3, 10}} {
		if got, err := ParseVersion(text); err != nil || got != want {
			t.Errorf("version %q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "3", "a.b", "3.x"} {
		if got, err := ParseVersion(text); err == nil {
			t.Errorf("version %q is taken as %v", text, got)
		}
	}
}
