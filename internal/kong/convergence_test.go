// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
)

// someState is one of many: apps come and go, plugins with them, endpoints change.
func someState(r *rand.Rand) []entity.Entity {
	var all []entity.Entity
	for i := range 12 {
		if r.IntN(3) == 0 {
			continue
		}
		name := fmt.Sprintf("app-%d", i)
		var endpoints []string
		for e := range 4 {
			if r.IntN(2) == 0 {
				endpoints = append(endpoints, fmt.Sprintf("10.0.%d.%d:80", i, e+1))
			}
		}
		all = append(all, app(name, endpoints...)...)
		for _, p := range []string{"key-auth", "cors", "acl"} {
			if r.IntN(3) == 0 {
				config := map[string]any{}
				if p == "acl" {
					config["allow"] = []any{fmt.Sprint(r.IntN(3))}
				}
				all = append(all, plugin(name, p, config)...)
			}
		}
	}
	return all
}

// faulty lets one request of five fail in some way.
func faulty(r *rand.Rand) func(kongtest.Call) *kongtest.Fault {
	kinds := []kongtest.Fault{
		{Status: 503}, {Status: 500}, {Status: 502, Body: "<html>"}, {Cut: true}, {Cut: true, Applied: true}, {Half: true}, {Status: 429, RetryAfter: "0"},
	}
	return func(kongtest.Call) *kongtest.Fault {
		if r.IntN(5) > 0 {
			return nil
		}
		return &kinds[r.IntN(len(kinds))]
	}
}

func TestConvergence(t *testing.T) {
	for name, options := range map[string]kongtest.Options{"database": withDatabase, "DB-less": dbless} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, options)
			if !options.DBLess {
				b.send(0, "POST", "/services", `{"name":"theirs","host":"a.example"}`)
			}
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 15 {
				b.want(someState(r))
				b.simulators[0].Inject(faulty(r))
				b.applyUntil("a state in spite of faults", func() bool { return true })
				b.simulators[0].Inject(nil)
				b.applyUntil("a state without faults", func() bool { return true })
				b.compare(i, options.DBLess)
				b.writes(0)
				b.apply()
				if calls := b.writes(0); len(calls) != 0 {
					t.Fatalf("state %d: another round writes %v", i, calls)
				}
			}
		})
	}
}

// compare demands that the gateway holds what is wanted, by kind and id, and nothing else of ours.
func (b *bench) compare(round int, isDBLess bool) {
	b.Helper()
	want, got := map[string]bool{}, map[string]bool{}
	for _, e := range b.wanted {
		want[e.Kind().Name+"/"+e.Common().ID] = true
	}
	for _, kind := range entity.Kinds() {
		for _, o := range b.simulators[0].Entities(kind.Name) {
			if isDBLess || strings.Contains(fmt.Sprint(o["tags"]), testTag) {
				got[kind.Name+"/"+o["id"].(string)] = true
			}
		}
	}
	for place := range want {
		if !got[place] {
			b.Fatalf("state %d: %s is missing", round, place)
		}
	}
	for place := range got {
		if !want[place] {
			b.Fatalf("state %d: %s is too much", round, place)
		}
	}
	if !isDBLess && len(b.simulators[0].Entities("services")) == len(slices.DeleteFunc(slices.Collect(keys(got)), notServices)) {
		b.Fatalf("state %d: the service of somebody else is gone", round)
	}
}

func keys(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func notServices(place string) bool { return !strings.HasPrefix(place, "services/") }

func TestAdoption(t *testing.T) {
	b := newBench(t, nil, withDatabase)
	// As the Kong Ingress Controller leaves it: same names, ids of its own, no fingerprints.
	tags := `"tags":["` + testTag + `","k8s-kind:Ingress","k8s-namespace:shop","k8s-name:web"]`
	b.send(0, "POST", "/upstreams", `{"name":"web.shop.80.svc",`+tags+`}`)
	b.send(0, "POST", "/upstreams/web.shop.80.svc/targets", `{"target":"10.0.0.1:80",`+tags+`}`)
	b.send(0, "POST", "/services", `{"name":"shop.web.80","host":"web.shop.80.svc",`+tags+`}`)
	b.send(0, "POST", "/services/shop.web.80/routes", `{"name":"shop.web.00","hosts":["web.example"],"paths":["/"],`+tags+`}`)
	b.send(0, "POST", "/routes/shop.web.00/plugins", `{"name":"cors",`+tags+`}`)
	b.simulators[0].Forget()
	var gap string
	b.simulators[0].Observe(func(c kongtest.Call) {
		if status := b.status(0, "web"); status != 200 {
			gap = fmt.Sprintf("after %s %s the route answers %d", c.Method, c.Path, status)
		}
	})
	b.want(app("web", "10.0.0.1:80"), plugin("web", "cors", nil))
	b.apply()
	b.simulators[0].Observe(nil)
	if gap != "" {
		t.Error(gap)
	}
	for kind, n := range map[string]int{"upstreams": 1, "targets": 1, "services": 1, "routes": 1, "plugins": 1} {
		if got := b.simulators[0].Entities(kind); len(got) != n {
			t.Errorf("%d %s are left, want %d: %v", len(got), kind, n, got)
		}
	}
	b.writes(0)
	b.apply()
	if calls := b.writes(0); len(calls) != 0 {
		t.Errorf("what was taken over is written again: %v", calls)
	}
}

func TestSwappedNames(t *testing.T) {
	b := newBench(t, nil, withDatabase)
	user := func(id, name string) entity.Entity {
		return &entity.Consumer{Meta: metaOf(entity.Consumers, id, id), Username: name}
	}
	b.want([]entity.Entity{user("1", "ann"), user("2", "bob"), user("3", "eve")})
	b.apply()
	b.want([]entity.Entity{user("1", "bob"), user("2", "eve"), user("3", "ann")})
	b.apply()
	for _, o := range b.simulators[0].Entities("consumers") {
		want := map[string]string{
			entity.NewID(entity.Consumers, "1"): "bob", entity.NewID(entity.Consumers, "2"): "eve", entity.NewID(entity.Consumers, "3"): "ann",
		}[o["id"].(string)]
		if o["username"] != want {
			t.Errorf("consumer %v is %v, want %s", o["id"], o["username"], want)
		}
	}
	if problems := b.driver.Notices(); len(problems) != 0 {
		t.Errorf("problems %v", problems)
	}
}
