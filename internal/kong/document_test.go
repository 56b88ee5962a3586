// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
)

func TestDocuments(t *testing.T) {
	b := newBench(t, nil, dbless, dbless)
	b.want(apps(5))
	b.applyUntil("both gateways serve", func() bool { return b.status(0, "app-4") == 200 && b.status(1, "app-4") == 200 })
	b.writes(0)
	b.writes(1)
	b.apply()
	if a, b := b.writes(0), b.writes(1); len(a)+len(b) != 0 {
		t.Errorf("without a change there are writes: %v %v", a, b)
	}
	b.want(apps(6))
	if change := b.apply(); change.Set != 2 {
		t.Errorf("change %+v, want one document for each gateway", change)
	}
	if a, b := b.writes(0), b.writes(1); len(a) != 1 || len(b) != 1 || a[0].Path != "/config" {
		t.Errorf("a change makes the writes %v and %v, want one document each", a, b)
	}
	b.want()
	b.apply()
	if n := len(b.simulators[0].Entities("routes")); n != 0 || len(b.simulators[0].Entities("upstreams")) != 1 {
		t.Errorf("an empty state leaves %d routes and the upstreams %v", n, b.simulators[0].Entities("upstreams"))
	}
}

func TestRestartedGatewayIsRefilled(t *testing.T) {
	b := newBench(t, nil, dbless, dbless)
	b.want(apps(5))
	b.applyUntil("both gateways serve", func() bool { return b.status(0, "app-4") == 200 && b.status(1, "app-4") == 200 })
	drained := func() {
		select {
		case <-b.driver.Restarted():
		default:
		}
	}
	drained()
	b.simulators[1].Restart()
	<-b.driver.Restarted() // the test as a whole ends when it does not come
	b.writes(0)
	b.applyUntil("the restarted gateway serves", func() bool { return b.status(1, "app-4") == 200 })
	if calls := b.writes(0); len(calls) != 0 {
		t.Errorf("the other gateway is written to as well: %v", calls)
	}
}

// TestLeaderChangeLoadsNothing: a new leader finds what gateways without a database hold by its name.
func TestLeaderChangeLoadsNothing(t *testing.T) {
	b := newBench(t, nil, dbless, dbless)
	b.want(apps(5))
	b.settle()
	b.driver = b.newDriver(nil)
	b.run(b.driver)
	for i := range b.simulators {
		b.writes(i)
	}
	b.applyUntil("both gateways are found", b.looked)
	for i := range b.simulators {
		if calls := b.writes(i); len(calls) != 0 {
			t.Errorf("gateway %d is written to: %v", i, calls)
		}
	}
	b.want(apps(6))
	b.apply()
	for i := range b.simulators {
		if calls := b.writes(i); len(calls) != 1 {
			t.Errorf("for a change gateway %d gets %v, want one document", i, calls)
		}
	}
}

func TestOverwrittenGatewayIsRepaired(t *testing.T) {
	b := newBench(t, nil, dbless)
	b.want(apps(2))
	b.apply()
	select {
	case <-b.driver.Restarted():
	default:
	}
	b.send(0, "POST", "/config", `{"config":"{\"_format_version\":\"3.0\",\"upstreams\":[{\"name\":\"evil\"}]}"}`)
	<-b.driver.Restarted()
	b.applyUntil("the gateway serves", func() bool { return b.status(0, "app-1") == 200 })
}

func TestBrokenEntitiesAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken []entity.Entity
		told   string // in the Problem
	}{
		{"limit", plugin("app-3", "rate-limiting", map[string]any{"minute": "many"}), "config.minute"},
		{"access", plugin("app-3", "key-auth", map[string]any{"bogus": 1}), "config.bogus"},
		{"unknown plugin", plugin("app-3", "no-such-plugin", nil), "not enabled"},
		{"route", []entity.Entity{&entity.Route{Meta: metaOf(entity.Routes, "bad", "app-3"), Name: "bad", Paths: []string{"~/a("}}}, "regex"},
		{"dangling", []entity.Entity{&entity.Plugin{
			Meta: metaOf(entity.Plugins, "lost", "app-3"), Name: "cors", Route: &entity.Reference{ID: entity.NewID(entity.Routes, "nobody")},
		}}, "does not exist"},
		{"twice", []entity.Entity{&entity.Service{Meta: lastOf("app-3"), Name: "shop.app-1.80", Host: "a.example"}}, "the same"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil, dbless, dbless)
			b.want(apps(10), c.broken)
			b.applyUntil("both gateways serve", func() bool { return b.status(0, "app-9") == 200 && b.status(1, "app-9") == 200 })
			for i := range 10 {
				if status := b.status(0, fmt.Sprintf("app-%d", i)); status != 200 {
					t.Errorf("app %d answers %d", i, status)
				}
			}
			problems := b.notices(entity.ReasonRefused)
			if len(problems) != 1 || problems[0].Object.Kind != "Ingress" || !strings.Contains(problems[0].Message, c.told) {
				t.Errorf("problems %v, want one that tells of %q", problems, c.told)
			}
			if c.name == "access" {
				got := b.simulators[0].Route(kongtest.Request{Host: "app-3.example", Path: "/"})
				if !slices.Equal(got.Plugins, []string{"request-termination"}) {
					t.Errorf("the route is open: %+v", got)
				}
			}
			b.writes(0)
			b.want(apps(11), c.broken)
			b.apply()
			if calls := b.writes(0); len(calls) != 1 {
				t.Errorf("what was refused is tried again: %d documents", len(calls))
			}
		})
	}
}

// lastOf is for an entity that comes after all others.
func lastOf(owner string) entity.Meta {
	m := metaOf(entity.Services, "", owner)
	m.ID = "ffffffff-ffff-5fff-8fff-ffffffffffff"
	return m
}

func TestLastGoodDocumentIsKept(t *testing.T) {
	b := newBench(t, nil, dbless)
	b.want(apps(2))
	b.apply()
	b.simulators[0].Inject(takesNoDocument)
	b.want(apps(3))
	if _, err := b.tryApply(); err == nil || !strings.Contains(err.Error(), "body size") {
		t.Errorf("a document that is too large: %v", err)
	}
	if status := b.status(0, "app-1"); status != 200 {
		t.Errorf("the last good document is gone: %d", status)
	}
	b.simulators[0].Inject(nil)
	b.apply()
	if status := b.status(0, "app-2"); status != 200 {
		t.Errorf("afterwards the new route answers %d", status)
	}
}

func TestVersionsApart(t *testing.T) {
	old := kongtest.Options{DBLess: true, Version: "2.8.5", Flavor: "traditional"}
	b := newBench(t, nil, old)
	b.want(apps(2))
	b.applyUntil("Kong 2.8 serves", func() bool { return b.status(0, "app-1") == 200 })
	mixed := newBench(t, nil, dbless, kongtest.Options{DBLess: true, Version: "3.4.0"})
	mixed.want(apps(2))
	mixed.applyUntil("both versions serve", func() bool { return mixed.status(0, "app-1") == 200 && mixed.status(1, "app-1") == 200 })
}

func TestNobodyAnswers(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Gateways, o.Patience = Fixed{{URL: "http://127.0.0.1:1"}}, 100*time.Millisecond })
	if _, err := b.tryApply(); err == nil || !strings.Contains(err.Error(), "no Kong Gateway answers") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("error %v", err)
	}
}

func TestGatewaysComeAndGo(t *testing.T) {
	b := newBench(t, nil, dbless)
	list := &moving{changed: make(chan struct{}, 1)}
	b.driver = b.newDriver(func(o *Options) { o.Gateways, o.Patience = list, time.Second })
	b.run(b.driver)
	b.want(apps(2))
	list.set(b.endpoints)
	b.applyUntil("a gateway that was found later serves", func() bool { return b.status(0, "app-1") == 200 })
	list.set(nil)
	b.applyFails()
}

func (b *bench) applyFails() {
	b.Helper()
	for range 1000 {
		if _, err := b.tryApply(); err != nil {
			return
		}
	}
	b.Error("gateways that are gone are still driven")
}

// moving is a list of gateways that changes.
type moving struct {
	changed chan struct{}
	list    atomicList
}

func (m *moving) set(list Fixed) {
	m.list.store(list)
	m.changed <- struct{}{}
}

func (m *moving) Endpoints() []Endpoint    { return m.list.load() }
func (m *moving) Changed() <-chan struct{} { return m.changed }

func TestPushReasons(t *testing.T) {
	for reason, push := range map[string]Push{
		"": {}, "other": {Broken: 1, Database: true}, "network": {Err: &admin.Error{Class: admin.Transport}}, "conflict": {Err: &admin.Error{Class: admin.Conflict}},
	} {
		if got := push.Reason(); got != reason {
			t.Errorf("push %+v: reason %q, want %q", push, got, reason)
		}
	}
}
