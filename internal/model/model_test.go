// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestWildcard(t *testing.T) {
	for name, want := range map[string]string{
		"a.example.com": "*.example.com", "a-b_1.example": "*.example", "example": "", ".example": "", "a.": "", "a b.example": "", "": "", "*.example": "",
	} {
		if got := Wildcard(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	route := func(name string) *Route { return &Route{Path: name} }
	m := &Model{Hosts: []*Host{
		{Name: "*.example", Matches: []Match{{Kind: Prefix, Path: "/", Route: route("wildcard")}}},
		{Name: CatchAll, Matches: []Match{{Kind: Prefix, Path: "/", Route: route("catch-all")}}},
		{Name: "a.example", Matches: []Match{
			{Kind: Exact, Path: "/p", Route: route("exact")}, {Kind: Prefix, Path: "/p/q/", Route: route("long")}, {Kind: Prefix, Path: "/p/", Route: route("short")},
		}},
		{Name: "alias.example", Aliases: []string{"*.other.example", "c.a.example", "long-name"}, Patterns: []string{`^s\d+\.`, `tail$`},
			Matches: []Match{{Kind: Prefix, Path: "/", Route: route("aliased")}}},
		{Name: "re.example", Matches: []Match{{Kind: Regex, Path: "/x|/y", Route: route("regex")}}},
	}}
	for request, want := range map[string]string{
		"a.example/p": "exact", "a.example/p/q/r": "long", "a.example/p/r": "short", "a.example/": "", "a.example/pq": "",
		"b.example/": "wildcard", "*.example/": "catch-all", "b.a.example/": "catch-all", "other/": "catch-all",
		"c.a.example/": "aliased", "long-name/": "aliased", "x.other.example/": "aliased", "*.other.example/": "catch-all", "y.x.other.example/": "catch-all",
		"s1.where.ever/": "aliased", "s.where.ever/": "catch-all", "is1.x/": "catch-all", "a.tail/": "aliased", "s1.example/": "wildcard",
		"re.example/Xyz": "regex", "re.example/yy": "regex", "re.example/zx": "",
	} {
		host, path, _ := strings.Cut(request, "/")
		_, match := m.Find(host, "/"+path)
		got := ""
		if match != nil {
			got = match.Route.Path
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", request, got, want)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	c := Certificate{Key: NewSecret("very private")}
	encoded, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprintf("%v", &c), string(encoded)} {
		if strings.Contains(text, "private") {
			t.Errorf("printed: %s", text)
		}
	}
	if c.Key.Reveal() != "very private" {
		t.Error("Reveal does not reveal")
	}
}

func TestProblemsAreSortedAndUnique(t *testing.T) {
	a, b := Problem{Object: Ref{"Ingress", "ns", "a"}, Reason: "R"}, Problem{Object: Ref{"Ingress", "ns", "b"}, Reason: "R"}
	got := SortProblems([]Problem{b, a, b})
	if len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("got %v", got)
	}
}
