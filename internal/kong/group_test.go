// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
)

// members is a group with consumers in it, and a limit for them.
func members(group string, names ...string) []entity.Entity {
	g := &entity.ConsumerGroup{Meta: metaOf(entity.ConsumerGroups, group, "app-0"), Name: group}
	limit := &entity.Plugin{
		Meta: metaOf(entity.Plugins, group+"/limit", "app-0"), Name: "rate-limiting", Config: map[string]any{"minute": 5}, ConsumerGroup: entity.RefTo(g),
	}
	all := []entity.Entity{g, limit}
	for _, name := range names {
		c := &entity.Consumer{Meta: metaOf(entity.Consumers, name, "app-0"), Username: name}
		all = append(all, c, entity.NewMembership(g.ID, c.ID))
	}
	return all
}

var enterprises = []kongtest.Options{{Enterprise: true, Version: "3.4.3.1"}, {Enterprise: true, Version: "3.9.0.1"}}

func TestGroups(t *testing.T) {
	for _, o := range enterprises {
		t.Run(o.Version, func(t *testing.T) {
			b := newBench(t, nil, o)
			is := func(when string, want ...string) {
				t.Helper()
				if got := b.simulators[0].Members("gold"); !slices.Equal(got, want) {
					t.Errorf("%s: the members are %v, want %v", when, got, want)
				}
			}
			b.want(apps(1), members("gold", "ann", "bob"))
			b.apply()
			is("at first", "ann", "bob")
			if plugins := b.simulators[0].Entities("plugins"); len(plugins) != 1 || plugins[0]["consumer_group"] == nil {
				t.Errorf("plugins %v", plugins)
			}
			b.send(0, http.MethodPost, "/consumers", `{"username":"eve"}`)
			b.send(0, http.MethodPost, "/consumer_groups/gold/consumers", `{"consumer":"eve"}`)
			b.writes(0)

			// Another replica leads: it finds what there is.
			b.driver = b.newDriver(nil)
			b.run(b.driver)
			b.apply()
			if calls := b.writes(0); len(calls) != 0 {
				t.Errorf("without a change a new leader writes %v", calls)
			}
			b.want(apps(1), members("gold", "ann"), []entity.Entity{
				&entity.Consumer{Meta: metaOf(entity.Consumers, "bob", "app-0"), Username: "bob"},
			})
			b.apply()
			is("once bob has left", "ann", "eve")
			if calls := b.writes(0); len(calls) != 1 || calls[0].Method != http.MethodDelete {
				t.Errorf("who leaves makes the writes %v, want one DELETE", calls)
			}
			b.want(apps(1), members("gold", "ann", "bob"))
			var lost atomic.Bool
			b.simulators[0].Inject(func(c kongtest.Call) *kongtest.Fault {
				if c.Method == http.MethodPost && lost.CompareAndSwap(false, true) {
					return &kongtest.Fault{Applied: true, Cut: true}
				}
				return nil
			})
			b.applyUntil("bob is back", func() bool { return slices.Contains(b.simulators[0].Members("gold"), "bob") })
			if !lost.Load() {
				t.Error("no answer was lost")
			}
			is("after an answer was lost", "ann", "bob", "eve")
			b.want(apps(1))
			b.writes(0)
			b.apply()
			is("without the group")
			for _, c := range b.writes(0) {
				if c.Method != http.MethodDelete || strings.HasPrefix(c.Path, "/consumer_groups/") && strings.Count(c.Path, "/") > 2 {
					t.Errorf("what goes with the group is deleted singly: %v", c)
				}
			}
		})
	}
}

func TestGroupsInDocuments(t *testing.T) {
	for _, o := range enterprises {
		o.DBLess = true
		b := newBench(t, nil, o)
		b.want(apps(1), members("gold", "ann", "bob"))
		b.apply()
		if got := fmt.Sprint(b.simulators[0].Members("gold")); got != "[ann bob]" {
			t.Errorf("%s: the members are %s", o.Version, got)
		}
	}
}
