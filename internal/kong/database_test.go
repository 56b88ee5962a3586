// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/model"
)

// send speaks to a gateway as somebody else would.
func (b *bench) send(i int, method, path, body string) string {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), method, b.endpoints[i].URL+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		b.Fatalf("%s %s: %d %s %v", method, path, response.StatusCode, text, err)
	}
	return string(text)
}

func TestEndpointChangeIsOneWrite(t *testing.T) {
	b := newBench(t, nil, withDatabase)
	b.want(apps(20), app("web", "10.1.0.1:80", "10.1.0.2:80"))
	b.apply()
	b.writes(0)
	b.want(apps(20), app("web", "10.1.0.1:80", "10.1.0.2:80", "10.1.0.3:80"))
	change := b.apply()
	if calls := b.simulators[0].Writes(); len(calls) != 1 || calls[0].Method != http.MethodPost || !strings.HasSuffix(calls[0].Path, "/targets") {
		t.Errorf("a new endpoint makes the writes %v, want one POST of a target", calls)
	}
	if change.Set != 1 || change.Deleted != 0 {
		t.Errorf("change %+v", change)
	}
	b.writes(0)
	b.want(apps(20), app("web", "10.1.0.1:80", "10.1.0.3:80"))
	b.apply()
	if calls := b.writes(0); len(calls) != 1 || calls[0].Method != http.MethodDelete {
		t.Errorf("a lost endpoint makes the writes %v, want one DELETE", calls)
	}
	b.apply()
	if calls := b.simulators[0].Calls(); slices.ContainsFunc(calls, func(c kongtest.Call) bool { return c.Path != "/status" }) {
		t.Errorf("without a change there are calls: %v", calls)
	}
}

func TestColdSyncAndOneRoute(t *testing.T) {
	const n = 1000
	b := newBench(t, nil, withDatabase)
	b.want(apps(n))
	begin := time.Now()
	b.apply()
	t.Logf("%d Ingresses written in %s", n, time.Since(begin))
	if calls := b.writes(0); len(calls) != 4*n {
		t.Errorf("%d Ingresses make %d writes, want one per entity, %d", n, len(calls), 4*n)
	}
	changed := apps(n)
	changed[2].(*entity.Route).Paths = []string{"/v2"}
	b.want(changed)
	begin = time.Now()
	b.apply()
	t.Logf("one route written in %s", time.Since(begin))
	if calls := b.writes(0); len(calls) != 1 || calls[0].Method != http.MethodPut {
		t.Errorf("a change of one route makes the writes %v, want one PUT", calls)
	}
	b.want()
	b.apply()
	// Targets go with their upstreams.
	if calls := b.writes(0); len(calls) != 3*n || len(b.simulators[0].Entities("targets")) != 0 {
		t.Errorf("to delete everything takes %d writes, want %d", len(calls), 3*n)
	}
}

func TestBrokenPluginIsIsolated(t *testing.T) {
	b := newBench(t, nil, withDatabase)
	b.want(apps(50), plugin("app-7", "rate-limiting", map[string]any{"minute": "many"}))
	b.apply()
	if n := len(b.simulators[0].Entities("routes")); n != 50 {
		t.Errorf("%d routes are there, want 50", n)
	}
	problems := b.notices(entity.ReasonRefused)
	if len(problems) != 1 || problems[0].Object != ingress("app-7") || !strings.Contains(problems[0].Message, "config.minute: expected a number") {
		t.Errorf("problems %v", problems)
	}
	if status := b.status(0, "app-7"); status != 200 {
		t.Errorf("the route whose limit was refused answers %d, want 200", status)
	}
	b.writes(0)
	b.want(apps(50), plugin("app-7", "rate-limiting", map[string]any{"minute": "many"}), app("late", "10.9.0.1:80"))
	b.apply()
	if calls := b.writes(0); len(calls) != 4 {
		t.Errorf("what was refused is tried again: %v", calls)
	}
	b.want(apps(50), plugin("app-7", "rate-limiting", map[string]any{"minute": 5}), app("late", "10.9.0.1:80"))
	b.apply()
	if calls := b.writes(0); len(calls) != 1 || len(b.notices(entity.ReasonRefused)) != 0 {
		t.Errorf("once it is repaired: writes %v, problems %v", calls, b.driver.Notices())
	}
}

func TestBrokenAccessPluginCloses(t *testing.T) {
	broken := plugin("app-1", "key-auth", map[string]any{"bogus": true})
	t.Run("new route", func(t *testing.T) {
		b := newBench(t, nil, withDatabase)
		b.want(apps(3), broken)
		b.apply()
		if got := b.ask("app-1"); got.Status == 200 && !slices.Contains(got.Plugins, "request-termination") {
			t.Errorf("the route is open: %+v", got)
		}
		if status := b.status(0, "app-2"); status != 200 {
			t.Errorf("another route answers %d", status)
		}
	})
	t.Run("route that served", func(t *testing.T) {
		b := newBench(t, nil, withDatabase)
		b.want(apps(3))
		b.apply()
		b.want(apps(3), broken)
		b.apply()
		if got := b.ask("app-1"); !slices.Contains(got.Plugins, "request-termination") {
			t.Errorf("the route is open: %+v", got)
		}
		b.writes(0)
		b.apply()
		if calls := b.writes(0); len(calls) != 0 {
			t.Errorf("again: %v", calls)
		}
		b.want(apps(3), plugin("app-1", "key-auth", nil))
		b.apply()
		if got := b.ask("app-1"); !slices.Equal(got.Plugins, []string{"key-auth"}) || got.Status != 200 {
			t.Errorf("once it is repaired: %+v", got)
		}
	})
	t.Run("plugin that was in force", func(t *testing.T) {
		b := newBench(t, nil, withDatabase)
		b.want(apps(3), plugin("app-1", "key-auth", nil))
		b.apply()
		b.want(apps(3), broken)
		b.apply()
		if got := b.ask("app-1"); !slices.Equal(got.Plugins, []string{"key-auth"}) || got.Status != 200 {
			t.Errorf("the last good plugin is not kept: %+v", got)
		}
	})
}

func TestNeverOpenNeverUnroutable(t *testing.T) {
	b := newBench(t, nil, withDatabase)
	b.want(apps(10))
	b.apply()
	var bad atomic.Value
	b.simulators[0].Observe(func(c kongtest.Call) {
		for i := range 10 {
			if status := b.status(0, fmt.Sprintf("app-%d", i)); status != 200 {
				bad.CompareAndSwap(nil, fmt.Sprintf("after %s %s an unchanged route answers %d", c.Method, c.Path, status))
			}
		}
		guarded := b.ask("guarded")
		if guarded.Status == 200 && !slices.Contains(guarded.Plugins, "key-auth") {
			bad.CompareAndSwap(nil, fmt.Sprintf("after %s %s the new route is open", c.Method, c.Path))
		}
		if guarded.Status == 503 && guarded.Service != "" {
			bad.CompareAndSwap(nil, fmt.Sprintf("after %s %s the new route leads to an empty upstream", c.Method, c.Path))
		}
	})
	b.want(apps(10), app("guarded", "10.5.0.1:80"), plugin("guarded", "key-auth", nil))
	b.apply()
	if got := b.ask("guarded"); got.Status != 200 || !slices.Equal(got.Plugins, []string{"key-auth"}) {
		t.Errorf("in the end: %+v", got)
	}
	moved := apps(10)
	for _, e := range moved {
		if target, ok := e.(*entity.Target); ok { // other endpoints, all at once
			target.Target = "172.16" + target.Target[len("10.0"):]
			target.ID = entity.NewID(entity.Targets, target.Target)
		}
	}
	b.want(moved, app("guarded", "10.5.0.1:80"), plugin("guarded", "key-auth", nil))
	b.apply()
	renamed := slices.Clone(moved)
	for i, e := range renamed {
		if route, ok := e.(*entity.Route); ok { // as after the upgrade of a controller that named them otherwise
			other := *route
			other.Name, other.ID = "renamed."+route.Name, entity.NewID(entity.Routes, "renamed."+route.Name)
			renamed[i] = &other
		}
	}
	b.want(renamed, app("guarded", "10.5.0.1:80"), plugin("guarded", "key-auth", nil))
	b.apply()
	b.simulators[0].Observe(nil)
	if what := bad.Load(); what != nil {
		t.Error(what)
	}
}

func TestLeaderChangeWritesNothing(t *testing.T) {
	b := newBench(t, nil, withDatabase)
	b.want(apps(30))
	b.apply()
	b.writes(0)
	var leads atomic.Bool
	follower := b.newDriver(func(o *Options) { o.Leads = leads.Load })
	b.run(follower)
	first := b.driver
	b.driver = follower
	if change := b.apply(); change.Set+change.Deleted != 0 {
		t.Errorf("who does not lead writes: %+v", change)
	}
	<-follower.Restarted() // the gateway was found
	leads.Store(true)
	select {
	case <-follower.Restarted():
	case <-time.After(time.Minute):
		t.Fatal("who begins to lead asks for no round")
	}
	b.apply()
	if calls := b.writes(0); len(calls) != 0 {
		t.Errorf("the new leader repeats what is written: %v", calls)
	}
	b.want(apps(31))
	b.apply()
	if calls := b.writes(0); len(calls) != 4 {
		t.Errorf("the new leader makes %d writes, want 4", len(calls))
	}
	_ = first
}

func TestDrift(t *testing.T) {
	for _, reverse := range []bool{true, false} {
		t.Run(fmt.Sprintf("reverse sync %v", reverse), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.ReverseSync, o.VerifyEvery = reverse, time.Millisecond }, withDatabase)
			b.want(app("web", "10.0.0.1:80"), plugin("web", "cors", map[string]any{"origins": []any{"https://a.example"}}))
			b.apply()
			route, plugin := "/routes/"+entity.NewID(entity.Routes, "web"), "/plugins/"+entity.NewID(entity.Plugins, "web/cors")
			b.send(0, "PATCH", route, `{"hosts":["evil.example"]}`)
			b.send(0, "PATCH", plugin, `{"config":{"origins":["*"]}}`)
			time.Sleep(2 * time.Millisecond)
			b.apply()
			repaired := b.status(0, "web") == 200 && !strings.Contains(b.send(0, "GET", plugin, ""), `"*"`)
			if repaired != reverse {
				t.Errorf("repaired is %v, want %v", repaired, reverse)
			}
			b.send(0, "DELETE", route, "")
			time.Sleep(2 * time.Millisecond)
			b.apply()
			if b.send(0, "GET", route, "") == "" {
				t.Error("a lost route is not restored")
			}
			b.writes(0)
			time.Sleep(2 * time.Millisecond)
			b.apply()
			if calls := b.writes(0); len(calls) != 0 {
				t.Errorf("what is as it should be is written: %v", calls)
			}
		})
	}
}

func TestOthersAreLeftAlone(t *testing.T) {
	b := newBench(t, func(o *Options) { o.ReverseSync, o.VerifyEvery = true, time.Millisecond }, withDatabase)
	b.send(0, "POST", "/services", `{"name":"theirs","host":"a.example","tags":["somebody"]}`)
	b.send(0, "POST", "/services/theirs/routes", `{"name":"theirs","paths":["/theirs"]}`)
	b.send(0, "POST", "/services", `{"name":"shop.clash.80","host":"b.example"}`)
	b.want(app("web", "10.0.0.1:80"), app("clash", "10.0.0.2:80"))
	b.apply()
	problems := b.notices(entity.ReasonRefused)
	if len(problems) != 1 || problems[0].Object != ingress("clash") || !strings.Contains(problems[0].Message, "not managed here") {
		t.Errorf("problems %v", problems)
	}
	b.send(0, "POST", "/services/shop.web.80/routes", `{"name":"by-hand","paths":["/by-hand"]}`)
	b.want()
	time.Sleep(2 * time.Millisecond)
	b.apply()
	for _, path := range []string{"/services/theirs", "/routes/theirs", "/services/shop.clash.80", "/routes/by-hand", "/services/shop.web.80"} {
		b.send(0, "GET", path, "")
	}
	for _, c := range b.simulators[0].Writes() {
		if strings.Contains(c.Path, "theirs") && !strings.HasPrefix(c.Path, "/services/theirs/routes") {
			t.Errorf("%s %s", c.Method, c.Path)
		}
	}
}

func TestPasswordChange(t *testing.T) {
	b := newBench(t, nil, withDatabase)
	user := func(password string) []entity.Entity {
		consumer := &entity.Consumer{Meta: metaOf(entity.Consumers, "ann", "ann"), Username: "ann"}
		return []entity.Entity{consumer, &entity.BasicAuth{
			Meta: metaOf(entity.BasicAuths, "ann", "ann"), Consumer: entity.RefTo(consumer), Username: "ann", Password: model.NewSecret(password),
		}}
	}
	b.want(user("one"))
	b.apply()
	before := b.send(0, "GET", "/basic-auths/ann", "")
	b.writes(0)
	b.driver = b.newDriver(nil) // another leader, which knows Kong's hash alone
	b.run(b.driver)
	b.apply()
	if calls := b.writes(0); len(calls) != 0 {
		t.Errorf("an unchanged password is written: %v", calls)
	}
	b.want(user("two"))
	b.apply()
	if after := b.send(0, "GET", "/basic-auths/ann", ""); len(b.writes(0)) != 1 || after == before {
		t.Error("a changed password is not written")
	}
}
