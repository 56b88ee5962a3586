// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/model"
)

// settle repeats rounds until all gateways hold what this round gives them, without a further write.
func (b *bench) settle() {
	b.Helper()
	b.applyUntil("a round without writes", func() bool {
		for i := range b.simulators {
			b.writes(i)
		}
		b.apply()
		for i := range b.simulators {
			if len(b.simulators[i].Writes()) > 0 {
				return false
			}
		}
		return b.looked()
	})
}

// looked tells whether all gateways have answered.
func (b *bench) looked() bool { return len(b.driver.ready()) == len(b.endpoints) }

// config gives the configuration of the one plugin of a name at a gateway, or nil.
func (b *bench) config(simulator int, name string) map[string]any {
	for _, o := range b.simulators[simulator].Entities("plugins") {
		if o["name"] == name {
			config, _ := o["config"].(map[string]any)
			return config
		}
	}
	return nil
}

func (b *bench) onlyProblem(texts ...string) {
	b.Helper()
	problems := b.notices(entity.ReasonRefused)
	if len(problems) != 1 {
		b.Errorf("problems %v, want one", problems)
		return
	}
	for _, text := range texts {
		if !strings.Contains(problems[0].Message, text) {
			b.Errorf("problem %q does not tell of %q", problems[0].Message, text)
		}
	}
}

func limit(of string, minute any) []entity.Entity {
	return plugin(of, "rate-limiting", map[string]any{"minute": minute})
}

// TestLastGoodFormIsKept breaks one plugin among others: it stays in force as it was, in both modes, and through a restart of the controller.
func TestLastGoodFormIsKept(t *testing.T) {
	for name, options := range map[string]kongtest.Options{"database": withDatabase, "DB-less": dbless} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, options)
			b.want(apps(5), limit("app-1", 5))
			b.apply()
			b.want(apps(6), limit("app-1", "many"))
			b.apply()
			check := func(when string) {
				b.Helper()
				if minute := fmt.Sprint(b.config(0, "rate-limiting")["minute"]); minute != "5" || b.status(0, "app-5") != 200 {
					b.Errorf("%s the limit is %s, and the new route answers %d", when, minute, b.status(0, "app-5"))
				}
			}
			check("with a broken plugin")
			b.onlyProblem("config.minute", "last good form stays in force")
			b.writes(0)
			b.apply()
			if calls := b.writes(0); len(calls) != 0 {
				t.Errorf("what was refused is tried again: %v", calls)
			}
			b.driver = b.newDriver(nil) // the controller restarts, and the cluster is still broken
			b.run(b.driver)
			b.want(apps(7), limit("app-1", "many"))
			b.apply()
			check("after a restart of the controller")
			b.onlyProblem("config.minute", "last good form stays in force")
			if status := b.status(0, "app-6"); status != 200 {
				t.Errorf("the route that came meanwhile answers %d", status)
			}
			b.want(apps(7), limit("app-1", 7))
			b.apply()
			if minute := fmt.Sprint(b.config(0, "rate-limiting")["minute"]); minute != "7" || len(b.notices(entity.ReasonRefused)) != 0 {
				t.Errorf("once it is repaired the limit is %s, problems %v", minute, b.driver.Notices())
			}
		})
	}
}

// TestLastGoodFormIsLeftOut is the other side of the option: only plugins that decide who may pass stay as they were.
func TestLastGoodFormIsLeftOut(t *testing.T) {
	b := newBench(t, func(o *Options) { o.LeaveOut = true }, dbless)
	acl := func(config map[string]any) []entity.Entity { return plugin("app-2", "acl", config) }
	b.want(apps(5), limit("app-1", 5), acl(map[string]any{"allow": []any{"staff"}}))
	b.apply()
	b.want(apps(5), limit("app-1", "many"), acl(map[string]any{"allow": []any{"staff"}}))
	b.apply()
	if b.config(0, "rate-limiting") != nil {
		t.Error("a limit that is refused stays")
	}
	b.want(apps(5), acl(map[string]any{"permit": []any{"staff"}}))
	b.apply()
	if got := b.ask("app-2"); !slices.Equal(got.Plugins, []string{"acl"}) || got.Status != 200 {
		t.Errorf("the last good form of a plugin that decides who may pass is not kept: %+v", got)
	}
	b.onlyProblem("last good form stays in force")
}

// TestLaxerFormIsNotKept: who may pass must not be decided by a form that let everybody pass.
func TestLaxerFormIsNotKept(t *testing.T) {
	b := newBench(t, nil, dbless)
	disabled := plugin("app-1", "key-auth", nil)
	disabled[0].(*entity.Plugin).Enabled = new(false)
	b.want(apps(3), disabled)
	b.apply()
	b.want(apps(3), plugin("app-1", "key-auth", map[string]any{"bogus": 1}))
	b.apply()
	if got := b.ask("app-1"); !slices.Equal(got.Plugins, []string{"request-termination"}) {
		t.Errorf("the route is open: %+v", got)
	}
	b.onlyProblem("answers 503")
}

// TestLastGoodRouteThatDoesNotFit: the old form of a route must not take what another route has now.
func TestLastGoodRouteThatDoesNotFit(t *testing.T) {
	b := newBench(t, nil, dbless)
	b.want(app("one", "10.0.0.1:80"))
	b.apply()
	one, two := app("one", "10.0.0.1:80"), app("two", "10.0.0.2:80")
	one[2].(*entity.Route).Paths = []string{"~/("}
	two[2].(*entity.Route).Hosts = []string{"one.example"}
	b.want(one, two)
	b.apply()
	if got := b.ask("one"); got.Service != "shop.two.80" || len(b.simulators[0].Entities("routes")) != 1 {
		t.Errorf("%+v", got)
	}
	b.onlyProblem("regex", "everything else is in force")
}

// TestLastGoodFormThatIsRefusedToo: a gateway that was upgraded may refuse what it took.
func TestLastGoodFormThatIsRefusedToo(t *testing.T) {
	b := newBench(t, nil, dbless)
	b.want(apps(2), limit("app-1", 5))
	b.apply()
	b.simulators[0].Inject(refuse(`"minute":5`, "minute is out of fashion"))
	b.want(apps(3), limit("app-1", "many"))
	b.apply()
	if b.config(0, "rate-limiting") != nil || b.status(0, "app-1") != 200 {
		t.Errorf("limit %v, status %d", b.config(0, "rate-limiting"), b.status(0, "app-1"))
	}
	b.onlyProblem("everything else is in force")
}

// refuse has a gateway refuse documents that have a text, for the sake of the plugin rate-limiting.
func refuse(text, reason string) func(kongtest.Call) *kongtest.Fault {
	return func(c kongtest.Call) *kongtest.Fault {
		if c.Method != http.MethodPost || c.Path != "/config" || !strings.Contains(c.Body, text) {
			return nil
		}
		return &kongtest.Fault{Status: 400, Body: fmt.Sprintf(
			`{"code":14,"message":"declarative config is invalid: {}","fields":{},"flattened_errors":[{"entity_type":"plugin","entity_id":%q,
			"errors":[{"type":"field","field":"config","message":%q}]}]}`, limit("app-1", 0)[0].Common().ID, reason)}
	}
}

// TestEachGatewayRefusesForItself has three gateways, of which one lacks a plugin and one refuses what it has.
func TestEachGatewayRefusesForItself(t *testing.T) {
	lacking := slices.DeleteFunc(kongtest.Bundled(), func(name string) bool { return name == "rate-limiting" })
	b := newBench(t, nil, dbless, dbless, kongtest.Options{DBLess: true, Plugins: lacking})
	b.simulators[1].Inject(refuse(`"minute":5`, "not on this node"))
	b.want(apps(3), limit("app-1", 5))
	b.settle()
	for i, want := range []bool{true, false, false} {
		if has := b.config(i, "rate-limiting") != nil; has != want || b.status(i, "app-2") != 200 {
			t.Errorf("gateway %d: the plugin is there: %v, want %v; status %d", i, has, want, b.status(i, "app-2"))
		}
	}
	problems := b.notices(entity.ReasonRefused)
	if len(problems) != 2 {
		t.Fatalf("problems %v", problems)
	}
	for i, text := range []string{"not on this node (at " + b.endpoints[1].URL + ")", "(at " + b.endpoints[2].URL + ")"} {
		if !slices.ContainsFunc(problems, func(p model.Problem) bool { return strings.Contains(p.Message, text) }) {
			t.Errorf("problem %d: %q is not in %v", i, text, problems)
		}
	}
	b.want(apps(4), limit("app-1", 5))
	b.apply()
	for i := range b.simulators {
		if calls := b.writes(i); len(calls) != 1 {
			t.Errorf("gateway %d gets %d documents for a change, want 1", i, len(calls))
		}
	}
}

// TestEmptyGatewayIsRefilled: when nothing that is wanted is taken, a gateway that restarts empty gets the last good document, and so does a new one.
func TestEmptyGatewayIsRefilled(t *testing.T) {
	b := newBench(t, nil, dbless, dbless)
	b.want(apps(3))
	b.settle()
	broken := func(c kongtest.Call) *kongtest.Fault {
		if c.Path == "/config" && strings.Contains(c.Body, "app-3") {
			return &kongtest.Fault{Status: 413, Body: "<html>"}
		}
		return nil
	}
	b.simulators[0].Inject(broken)
	b.simulators[1].Inject(broken)
	b.want(apps(4))
	if _, err := b.tryApply(); err == nil {
		t.Error("what is too large is taken")
	}
	b.simulators[1].Restart()
	for deadline := time.Now().Add(time.Minute); b.status(1, "app-2") != 200; {
		if _, _ = b.tryApply(); time.Now().After(deadline) {
			t.Fatal("the gateway that restarted stays empty")
		}
	}
}

// TestColdSyncWithoutADatabase counts documents: one for a thousand Ingresses, and one for a change of one route.
func TestColdSyncWithoutADatabase(t *testing.T) {
	const n = 1000
	b := newBench(t, nil, dbless, dbless)
	b.want(apps(n))
	b.settle()
	for i := range b.simulators {
		if routes := len(b.simulators[i].Entities("routes")); routes != n {
			t.Errorf("gateway %d has %d routes", i, routes)
		}
	}
	changed := apps(n)
	changed[2].(*entity.Route).Paths = []string{"/v2"}
	b.want(changed)
	begin := time.Now()
	b.apply()
	t.Logf("one route of %d changed on two gateways in %s", n, time.Since(begin))
	for i := range b.simulators {
		if calls := b.writes(i); len(calls) != 1 {
			t.Errorf("gateway %d gets %d documents, want 1", i, len(calls))
		}
	}
}

// TestRefusedIsTriedAgain: verifications leave what was refused alone, until a while has passed.
func TestRefusedIsTriedAgain(t *testing.T) {
	for name, options := range map[string]kongtest.Options{"database": withDatabase, "DB-less": dbless} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.VerifyEvery = time.Millisecond }, options)
			b.want(apps(2), limit("app-1", "many"))
			b.apply()
			b.writes(0)
			time.Sleep(2 * time.Millisecond)
			b.apply()
			if calls := b.writes(0); len(calls) != 0 {
				t.Errorf("a verification tries what was refused: %v", calls)
			}
			b.driver.o.RetryEvery = time.Millisecond
			time.Sleep(2 * time.Millisecond)
			b.apply()
			if calls := b.writes(0); len(calls) != 1 || calls[0].Status != 400 {
				t.Errorf("after a while the writes are %v, want one that is refused", calls)
			}
		})
	}
}

// TestOneGatewayFails: what one gateway cannot take for good is in force on the other, and is tried again there without a change.
func TestOneGatewayFails(t *testing.T) {
	b := newBench(t, nil, dbless, dbless)
	b.want(apps(2))
	b.settle()
	b.simulators[1].Inject(takesNoDocument)
	b.want(apps(3))
	b.apply()
	if first, second := b.status(0, "app-2"), b.status(1, "app-1"); first != 200 || second != 200 || b.status(1, "app-2") != 404 {
		t.Errorf("the new route answers %d on the one gateway, an old one %d on the other", first, second)
	}
	if !strings.Contains(b.log.String(), "not in force on one gateway") {
		t.Error("the log does not tell")
	}
	b.simulators[1].Inject(nil)
	for deadline := time.Now().Add(time.Minute); b.status(1, "app-2") != 200; {
		select {
		case <-b.driver.Restarted():
			b.apply()
		case <-time.After(time.Until(deadline)):
			t.Fatal("the gateway is not tried again")
		}
	}
}
