// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestTakesThePredecessorsFlags holds the drop-in promise: every flag of ingress-nginx v1.15.1 is taken, and where it has an effect its default
// is the predecessor's. testdata/predecessor-flags.tsv lists names and defaults.
func TestTakesThePredecessorsFlags(t *testing.T) {
	text, err := os.ReadFile("testdata/predecessor-flags.tsv")
	if err != nil {
		t.Fatal(err)
	}
	flags, ignored := newController().Flags(), newIgnoredFlags()
	count := 0
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		count++
		f := flags.Lookup(name)
		switch {
		case f == nil:
			t.Errorf("--%s is not taken", name)
		case ignored.Lookup(name) == nil && f.DefValue != value:
			t.Errorf("--%s has the default %q, want %q", name, f.DefValue, value)
		case ignored.Lookup(name) != nil && (f.NoOptDefVal == "true") != (value == "true" || value == "false"):
			t.Errorf("--%s: whether it may stand alone must follow from its default %q", name, value)
		}
	}
	if count != 72+15 {
		t.Errorf("%d flags are listed, the predecessor has 87", count)
	}
	ignored.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains("\n"+string(text), "\n"+f.Name+"\t") {
			t.Errorf("--%s is no flag of the predecessor", f.Name)
		}
	})
}

// rows reads a file of lines of two fields with a tab between.
func rows(t *testing.T, path string) [][2]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list [][2]string
	for line := range strings.Lines(string(text)) {
		first, second, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		list = append(list, [2]string{first, second})
	}
	return list
}

// flagTests prints the last chapter of docs/flags.md: how many of the predecessor's flags act, and the test that shows it. Each of them must have
// a line in testdata/flag-tests.tsv, and no other.
func flagTests(t *testing.T) string {
	t.Helper()
	tests := map[string]string{}
	for _, row := range rows(t, "testdata/flag-tests.tsv") {
		tests[row[0]] = row[1]
	}
	var table strings.Builder
	ignored, acting, all := newIgnoredFlags(), 0, rows(t, "testdata/predecessor-flags.tsv")
	for _, row := range all {
		name := row[0]
		test, found := tests[name]
		delete(tests, name)
		switch {
		case ignored.Lookup(name) != nil && found:
			t.Errorf("--%s has no effect, but testdata/flag-tests.tsv has a test of it", name)
		case ignored.Lookup(name) != nil:
		case !found:
			t.Errorf("--%s acts: add the test that shows it to testdata/flag-tests.tsv", name)
		default:
			acting++
			fmt.Fprintf(&table, "| `--%s` | %s |\n", name, test)
			mustBeThere(t, name, test)
		}
	}
	for name := range tests {
		t.Errorf("testdata/flag-tests.tsv has --%s, which is no flag of the predecessor", name)
	}
	return fmt.Sprintf("\n## The predecessor's flags\n\nOf its %d flags %d act and %d are taken with a warning. "+
		"This shows what they do:\n\n| flag | test |\n|---|---|\n%s",
		len(all), acting, len(all)-acting, table.String())
}

// mustBeThere looks for a test that is given as a file, or as a file and the name of a function in it; "none: REASON" is no test.
func mustBeThere(t *testing.T, flag, test string) {
	t.Helper()
	if strings.HasPrefix(test, "none: ") {
		return
	}
	file, function, named := strings.Cut(test, " ")
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Errorf("test of --%s: %v", flag, err)
	} else if named && !strings.Contains(string(text), "func "+function+"(") {
		t.Errorf("test of --%s: %s has no function %s", flag, file, function)
	}
}

func TestDefaultRuntimeDir(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write to /run")
	}
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/1")
	if dir := defaultRuntimeDir(); dir != "/run/user/1/fairway" && dir != "/run/fairway" {
		t.Errorf("runtime directory %s", dir)
	}
}
