// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"bytes"
	"flag"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fairway-ingress/fairway/internal/model"
)

var update = flag.Bool("update", false, "rewrite docs/settings.md")

const reference = "../../docs/settings.md"

var owner = model.Ref{Kind: "ConfigMap", Namespace: "fairway", Name: "settings"}

func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, group := range Groups() {
		if !slices.IsSortedFunc(group.Keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("group %s is not sorted", group.Name)
		}
		for _, key := range group.Keys {
			if seen[key.Name] {
				t.Errorf("%s is listed twice", key.Name)
			}
			seen[key.Name] = true
			if key.Instead != "" {
				continue
			}
			if key.Type == "" || key.Doc == "" || key.Default == "" || key.Example == "" {
				t.Errorf("%s lacks a part", key.Name)
			}
			data := Companions(key.Name)
			data[key.Name] = key.Example
			_, problems := Parse(owner, data)
			if len(problems) != 0 && problems[0].Message != key.Lacks {
				t.Errorf("the example of %s does not parse: %v", key.Name, problems)
			}
		}
	}
}

var plain = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

// TestDefaults checks that the defaults in the registry are those in force.
func TestDefaults(t *testing.T) {
	empty, problems := Parse(owner, nil)
	if diff := cmp.Diff(model.DefaultSettings(), empty, plain); diff != "" || len(problems) != 0 {
		t.Errorf("an empty ConfigMap: %s%v", diff, problems)
	}
	all := map[string]string{}
	for _, group := range Groups() {
		for _, key := range group.Keys {
			if key.Instead == "" && key.Default != none {
				all[key.Name] = key.Default
			}
		}
	}
	written, problems := Parse(owner, all)
	if diff := cmp.Diff(model.DefaultSettings(), written, plain); diff != "" || len(problems) != 0 {
		t.Errorf("a ConfigMap of defaults: %s%v", diff, problems)
	}
}

func TestReference(t *testing.T) {
	var want bytes.Buffer
	keys := inventory(t)
	live := map[string]bool{}
	for name, key := range keys {
		if key[0] == "live" || key[0] == "undocumented" {
			live[name] = true
		}
	}
	cases := requestCases(t)
	for name, other := range tested {
		if cases[name] == "" {
			cases[name] = other
		}
	}
	WriteReference(&want, cases, live, len(keys))
	if *update {
		if err := os.WriteFile(reference, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want.String()); diff != "" {
		t.Errorf("docs/settings.md (-is +should); go test ./internal/settings -update rewrites it:\n%s", diff)
	}
}
