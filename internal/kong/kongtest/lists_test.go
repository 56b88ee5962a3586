// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"testing"
)

// walk gives the ids of all pages.
func (g *gateway) walk(path string, query url.Values) []string {
	g.t.Helper()
	var ids []string
	for range 100 {
		page := g.want(200, get, path+"?"+query.Encode(), nil)
		for _, o := range list0(page["data"]) {
			ids = append(ids, o.(object)["id"].(string))
		}
		offset, more := page["offset"].(string)
		if (page["next"] != nil) != more {
			g.t.Fatalf("next is %v and offset %q", page["next"], offset)
		}
		if !more {
			return ids
		}
		query.Set("offset", offset)
	}
	g.t.Fatal("the list has no end")
	return nil
}

func TestK10Lists(t *testing.T) {
	g := withDatabase(t)
	want := map[string]bool{}
	for i := range 7 {
		s := g.create("/services", object{"name": g.name(fmt.Sprint(i)), "host": "a", "tags": []any{g.unique}})
		want[s["id"].(string)] = true
	}
	got := g.walk("/services", url.Values{"size": {"3"}, "tags": {g.unique}})
	slices.Sort(got)
	if !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("pages hold %v, want %v", got, want)
	}
	g.refused(400, 9, get, "/services?size=0", nil)
	g.refused(400, 9, get, "/services?size=1001", nil)
	g.refused(400, 9, get, "/services?size=x", nil)
	g.refused(400, 7, get, "/services?offset=%25%25", nil)

	u := g.create("/upstreams", object{"name": g.name("u")})
	targets := "/upstreams/" + u["id"].(string) + "/targets"
	for i := range 5 {
		g.want(201, post, targets, object{"target": fmt.Sprintf("10.0.0.%d:80", i+1)})
	}
	if got := g.walk(targets, url.Values{"size": {"2"}}); len(got) != 5 {
		t.Errorf("pages of targets hold %v", got)
	}
}

func TestK10PageAfterADelete(t *testing.T) {
	g := withDatabase(t)
	for i := range 4 {
		g.create("/services", object{"name": g.name(fmt.Sprint(i)), "host": "a", "tags": []any{g.unique}})
	}
	first := g.want(200, get, "/services?size=2&tags="+g.unique, nil)
	for _, o := range list0(first["data"]) {
		g.want(204, del, "/services/"+o.(object)["id"].(string), nil)
	}
	rest := g.want(200, get, "/services?size=2&tags="+g.unique+"&offset="+url.QueryEscape(first["offset"].(string)), nil)
	if n := len(list0(rest["data"])); n != 2 {
		t.Errorf("after the first page was deleted the second has %d, want 2", n)
	}
}

func TestK11Tags(t *testing.T) {
	g := withDatabase(t)
	a, b := g.unique+"a", g.unique+"b"
	g.create("/services", object{"name": g.name("1"), "host": "a", "tags": []any{a}})
	g.create("/services", object{"name": g.name("2"), "host": "a", "tags": []any{b}})
	s := g.create("/services", object{"name": g.name("3"), "host": "a", "tags": []any{a, b, "with space", "ümlaut"}})
	for filter, want := range map[string]int{a: 2, a + "," + b: 1, a + "/" + b: 3, "with space," + a: 1} {
		if got := len(g.walk("/services", url.Values{"tags": {filter}})); got != want {
			t.Errorf("tags=%s gives %d, want %d", filter, got, want)
		}
	}
	g.refused(400, 11, get, "/services?tags=a,b/c", nil)
	g.refused(400, 11, get, "/services?tags=", nil)
	g.refused(400, 11, get, "/services?tags=a,b,c,d,e,f", nil)
	g.refused(400, 2, post, "/services", object{"host": "a", "tags": []any{"a,b"}}, "tags")
	g.refused(400, 2, post, "/services", object{"host": "a", "tags": []any{"a/b"}}, "tags")
	g.create("/routes", object{"paths": []any{"/" + g.unique}, "service": ref(s)})
	if nested := g.want(200, get, "/services/"+s["id"].(string)+"/routes?tags=other", nil); len(list0(nested["data"])) != 1 {
		t.Error("a nested list minds the filter")
	}
	if tagged := g.want(200, get, "/tags/"+a, nil); len(list0(tagged["data"])) != 2 {
		t.Errorf("/tags/%s: %v", a, tagged)
	}
}

func TestK12EmptyLists(t *testing.T) {
	g := simulated(t, Options{EmptyObjects: true, Extra: "later"})
	page := g.want(200, get, "/services", nil)
	if empty, ok := page["data"].(object); !ok || len(empty) != 0 {
		t.Errorf("an empty list is %v", page["data"])
	}
	s := g.create("/services", object{"host": "a", "tags": []any{}})
	if _, ok := s["tags"].(object); !ok || s["later"] == nil {
		t.Errorf("service %v, want empty lists as {} and a field more", s)
	}
}
