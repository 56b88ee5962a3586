// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-ingress/fairway/internal/model"
)

var update = flag.Bool("update", false, "rewrite docs/annotations.md")

const reference = "../../docs/annotations.md"

func TestRegistry(t *testing.T) {
	cases := readCases(t)
	seen := map[string]bool{}
	groups := map[string]bool{}
	for _, group := range Groups() {
		if group.Name == "" || group.Doc == "" || len(group.Keys) == 0 || groups[group.Name] {
			t.Errorf("group %q is a duplicate or lacks a part", group.Name)
		}
		groups[group.Name] = true
		if !slices.IsSortedFunc(group.Keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("group %s is not sorted", group.Name)
		}
		for _, key := range group.Keys {
			for _, name := range []string{key.Name, key.Alias} {
				if name != "" && seen[name] {
					t.Errorf("%s is listed twice", name)
				}
				seen[name] = true
			}
			if key.Scope == "" || key.Risk == "" {
				t.Errorf("%s has no scope or risk", key.Name)
			}
			checkKey(t, key, cases)
		}
	}
}

func checkKey(t *testing.T, key Key, cases []byte) {
	if key.Type == "" || key.Doc == "" || key.Default == "" || key.Example == "" || key.Source == "" {
		t.Errorf("%s lacks a part", key.Name)
	}
	settings := model.DefaultSettings()
	if err := key.apply(newEffect(&settings), key.Example); err != nil {
		t.Errorf("the example of %s does not parse: %v", key.Name, err)
	}
	if !bytes.Contains(cases, []byte(key.Full()+":")) {
		t.Errorf("%s has no golden case in internal/ingress/testdata", key.Name)
	}
}

func readCases(t *testing.T) []byte {
	files, err := filepath.Glob("../ingress/testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}

// requestCases finds the case through real nginx of each key: it is named for the key.
func requestCases(t *testing.T) map[string]string {
	const root = "../../"
	files, err := filepath.Glob(root + "test/e2e/http/testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	cases := map[string]string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		key := index[name]
		if key == nil || key.Name != name || filepath.Base(filepath.Dir(file)) == "settings" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(text, []byte(key.Full())) < 2 {
			t.Errorf("%s needs a good and a bad value of the key", file)
		}
		cases[name] = strings.TrimPrefix(file, root)
	}
	return cases
}

// TestRequestCases demands a case through real nginx for each key.
func TestRequestCases(t *testing.T) {
	cases := requestCases(t)
	for _, group := range groups {
		for _, key := range group.Keys {
			if cases[key.Name] == "" {
				t.Errorf("%s has no case test/e2e/http/testdata/*/%s.txtar", key.Name, key.Name)
			}
		}
	}
}

func TestReference(t *testing.T) {
	var want bytes.Buffer
	WriteReference(&want, requestCases(t))
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
		t.Errorf("docs/annotations.md (-is +should); go test ./internal/annotation -update rewrites it:\n%s", diff)
	}
}
