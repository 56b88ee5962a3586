// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import "testing"

// TestConsumerGroups is about Enterprise: who is a member, and what goes with whom.
func TestConsumerGroups(t *testing.T) {
	g := simulated(t, Options{Enterprise: true, Version: "3.9.0.1"})
	if root := g.want(200, get, "/", nil); root["edition"] != "enterprise" {
		t.Errorf("the edition is %v", root["edition"])
	}
	gold := g.create("/consumer_groups", object{"name": "gold", "tags": []any{"x"}})
	g.refused(409, 5, post, "/consumer_groups", object{"name": "gold"}, "name")
	ann := g.create("/consumers", object{"username": "ann"})
	below := "/consumer_groups/" + gold["id"].(string) + "/consumers"
	g.want(400, post, below, object{})
	g.want(404, post, below, object{"consumer": "nobody"})
	g.want(404, post, "/consumer_groups/silver/consumers", object{"consumer": "ann"})
	g.want(201, post, below, object{"consumer": ann["id"]})
	g.want(409, post, below, object{"consumer": "ann"})
	if list := list0(g.want(200, get, below, nil)["data"]); len(list) != 1 {
		t.Errorf("the members are %v", list)
	}
	g.want(200, get, below+"/ann", nil)
	g.want(204, del, below+"/ann", nil)
	g.want(404, del, below+"/ann", nil)
	g.want(201, post, below, object{"consumer": []any{"ann"}})
	g.create("/plugins", object{"name": "rate-limiting", "config": object{"minute": 5.0}, "consumer_group": object{"id": gold["id"]}})
	g.create("/plugins", object{"name": "rate-limiting", "config": object{"minute": 5.0}})
	g.refused(409, 5, post, "/plugins", object{
		"name": "rate-limiting", "config": object{"minute": 5.0}, "consumer_group": object{"id": gold["id"]},
	}, "consumer_group")
	g.want(204, del, "/consumers/ann", nil)
	if list := list0(g.want(200, get, below, nil)["data"]); len(list) != 0 {
		t.Errorf("once the consumer is gone the members are %v", list)
	}
	g.want(204, del, "/consumer_groups/gold", nil)
	if n := len(g.sim.Entities("plugins")); n != 1 {
		t.Errorf("%d plugins are left, want 1", n)
	}
}

// TestConsumerGroupsElsewhere shows members under another name, and open source has none of it.
func TestConsumerGroupsElsewhere(t *testing.T) {
	old := simulated(t, Options{Enterprise: true, Version: "3.4.3.1"})
	old.create("/consumer_groups", object{"name": "gold"})
	if answer := old.want(200, get, "/consumer_groups/gold/consumers", nil); answer["consumers"] == nil || answer["data"] != nil {
		t.Errorf("before 3.5: %v", answer)
	}
	open := simulated(t, Options{})
	open.want(404, get, "/consumer_groups", nil)
	open.refused(400, 2, post, "/plugins", object{"name": "cors", "consumer_group": object{"id": randomID()}}, "consumer_group")
}

// TestConsumerGroupsInDocuments has members in a collection of their own, without ids and tags.
func TestConsumerGroupsInDocuments(t *testing.T) {
	g := simulated(t, Options{Enterprise: true, DBLess: true, Version: "3.9.0.1"})
	document := func(membership object) object {
		return object{
			"_format_version": "3.0", "consumers": []any{object{"username": "ann"}}, "consumer_groups": []any{object{"name": "gold"}},
			"consumer_group_consumers": []any{membership},
		}
	}
	g.want(201, post, "/config", document(object{"consumer": "ann", "consumer_group": "gold"}))
	if got := g.sim.Members("gold"); len(got) != 1 || got[0] != "ann" {
		t.Errorf("the members are %v", got)
	}
	g.want(400, post, "/config", document(object{"consumer": "ann", "consumer_group": "gold", "tags": []any{"x"}}))
	g.want(405, post, "/consumer_groups/gold/consumers", object{"consumer": "ann"})
}
