// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

var labels = Labels{Selector: "ours"}

func meta(id string) entity.Meta { return entity.Meta{ID: id} }

// site is a service with a route, a target, and a plugin that decides who may pass.
func site() []entity.Entity {
	upstream := &entity.Upstream{Meta: meta("u"), Name: "u.svc"}
	certificate := &entity.Certificate{Meta: meta("c"), Cert: "cert", Key: model.NewSecret("key")}
	service := &entity.Service{Meta: meta("s"), Name: "s", Host: "u.svc", ClientCertificate: entity.RefTo(certificate)}
	route := &entity.Route{Meta: meta("r"), Name: "r", Paths: []string{"/"}, Service: entity.RefTo(service)}
	return []entity.Entity{
		upstream, certificate, service, route, &entity.Target{Meta: meta("t"), Target: "[::1]:80", Upstream: entity.RefTo(upstream)},
		&entity.Plugin{Meta: meta("p"), Name: "key-auth", Route: entity.RefTo(route)},
		&entity.SNI{Meta: meta("n"), Name: "a.example", Certificate: entity.RefTo(certificate)},
	}
}

func exclude(kind *entity.Kind, id string) *entity.State {
	return Exclude(entity.NewState(site()), map[entity.Place]bool{{Kind: kind.Name, ID: id}: true})
}

func find(s *entity.State, kind *entity.Kind, id string) entity.Entity {
	for _, e := range s.Entities {
		if e.Kind() == kind && (e.Common().ID == id || id == "") {
			return e
		}
	}
	return nil
}

func TestExclude(t *testing.T) {
	withoutService := exclude(entity.Services, "s")
	if route, ok := find(withoutService, entity.Routes, "r").(*entity.Route); !ok || route.Service != nil {
		t.Errorf("the route of a service that is out is %+v, want it without a service", route)
	}
	if find(withoutService, entity.Plugins, "p") == nil {
		t.Error("the plugin of that route is gone")
	}
	// The certificate is what the service shows to its upstream: without it the service is not what was asked for.
	withoutCertificate := exclude(entity.Certificates, "c")
	if find(withoutCertificate, entity.SNIs, "n") != nil || find(withoutCertificate, entity.Services, "s") != nil {
		t.Error("what needs a certificate that is out is still there")
	}
	closed, ok := find(exclude(entity.Plugins, "p"), entity.Plugins, "").(*entity.Plugin)
	if !ok || closed.Name != "request-termination" || closed.Route.ID != "r" {
		t.Errorf("in place of an access plugin there is %+v", closed)
	}
	if again := exclude(entity.Plugins, "nobody"); len(again.Entities) != len(site()) {
		t.Errorf("what is not there takes %d entities with it", len(site())-len(again.Entities))
	}
	if route := site()[3].(*entity.Route); route.Service == nil {
		t.Error("the state that was given has changed")
	}
}

func TestSound(t *testing.T) {
	lost := &entity.Plugin{Meta: meta("lost"), Name: "cors", Route: &entity.Reference{ID: "nowhere"}}
	state, faults := Sound(entity.NewState(append(site(), lost)))
	if len(faults) != 1 || faults[0].Entity != lost || len(state.Entities) != len(site()) {
		t.Errorf("faults %v, %d entities", faults, len(state.Entities))
	}
}

func hold(entities []entity.Entity) map[entity.Place]*Held {
	held := map[entity.Place]*Held{}
	for _, o := range Diff(NewInventory(nil), entity.NewState(entities), labels, nil) {
		if o.Verb == Create || o.Verb == Connect {
			held[entity.PlaceOf(o.Entity)] = o.Result()
		}
	}
	return held
}

func names(operations []*Operation) []string {
	var out []string
	for _, o := range operations {
		out = append(out, o.String())
	}
	slices.Sort(out)
	return out
}

func TestDiffOfEqualStates(t *testing.T) {
	if operations := Diff(NewInventory(hold(site())), entity.NewState(site()), labels, nil); len(operations) != 0 {
		t.Errorf("operations %v, want none", names(operations))
	}
}

func TestNewRouteWithAccessPlugin(t *testing.T) {
	operations := Diff(NewInventory(nil), entity.NewState(site()), labels, nil)
	var connect *Operation
	for _, o := range operations {
		if o.Verb == Connect {
			connect = o
		}
	}
	if connect == nil {
		t.Fatalf("the route is not connected apart: %v", names(operations))
	}
	if after := names(connect.After); !slices.Contains(after, "create plugin p") || !slices.Contains(after, "create route r") {
		t.Errorf("the route is connected after %v", after)
	}
	for _, o := range operations {
		if o.Kind == entity.Services {
			if behind := names(o.Behind); !slices.Contains(behind, "create target [::1]:80") {
				t.Errorf("the service follows %v, want its target among them", behind)
			}
		}
	}
}

func TestDeletesGoInOrder(t *testing.T) {
	operations := Diff(NewInventory(hold(site())), entity.NewState(nil), labels, nil)
	want := []string{"delete certificate c", "delete route r", "delete service s", "delete upstream u"}
	if got := names(operations); !slices.Equal(got, want) {
		t.Errorf("operations %v, want %v: the rest goes with them", got, want)
	}
	for _, o := range operations {
		waits := map[*entity.Kind][]string{entity.Services: {"delete route r"}, entity.Certificates: {"delete service s"}}[o.Kind]
		if !slices.Equal(names(o.After), waits) {
			t.Errorf("%s waits for %v, want %v", o, names(o.After), waits)
		}
	}
}

func TestNoCircles(t *testing.T) {
	user := func(id, name string) entity.Entity { return &entity.Consumer{Meta: meta(id), Username: name} }
	held := hold([]entity.Entity{user("1", "a"), user("2", "b")})
	operations := Diff(NewInventory(held), entity.NewState([]entity.Entity{user("1", "b"), user("2", "a")}), labels, nil)
	for _, o := range operations {
		for _, other := range slices.Concat(o.After, o.Behind) {
			if reaches(other, o) {
				t.Errorf("%s and %s wait for each other", o, other)
			}
		}
	}
	if !slices.ContainsFunc(operations, func(o *Operation) bool { return o.Verb == Park }) {
		t.Errorf("nobody gives way: %v", names(operations))
	}
}

func TestDrifted(t *testing.T) {
	target := &entity.Target{Meta: meta("t"), Target: "[::1]:80", Weight: new(5), Upstream: &entity.Reference{ID: "u"}}
	record := map[string]any{
		"id": "t", "target": "[0000:0000:0000:0000:0000:0000:0000:0001]:80", "weight": 5.0, "upstream": map[string]any{"id": "u"}, "created_at": 1.5,
	}
	if field := Drifted(target, record); field != "" {
		t.Errorf("a target in full form differs in %s", field)
	}
	record["weight"] = 6.0
	if field := Drifted(target, record); field != "weight" {
		t.Errorf("another weight is %q", field)
	}
	route := &entity.Route{Meta: meta("r"), Protocols: []string{"https", "http"}, StripPath: new(false)}
	shown := map[string]any{"id": "r", "protocols": []any{"http", "https"}, "strip_path": false, "methods": nil, "regex_priority": 0.0}
	if field := Drifted(route, shown); field != "" {
		t.Errorf("a route as Kong shows it differs in %s", field)
	}
	shown["strip_path"] = true
	if field := Drifted(route, shown); field != "strip_path" {
		t.Errorf("a changed route differs in %q", field)
	}
}

func TestTagsTellVersionsApart(t *testing.T) {
	password := func(text string) entity.Entity {
		return &entity.BasicAuth{Meta: meta("b"), Username: "ann", Password: model.NewSecret(text)}
	}
	one := labels.Tags(password("one"))
	if !slices.Equal(one, labels.Tags(password("one"))) || slices.Equal(one, labels.Tags(password("two"))) {
		t.Errorf("tags %v, %v", one, labels.Tags(password("two")))
	}
	keyed := Labels{Selector: "ours", Key: []byte("k")}
	if slices.Equal(one, keyed.Tags(password("one"))) {
		t.Error("the key counts for nothing")
	}
}
