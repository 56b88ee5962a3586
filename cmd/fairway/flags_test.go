// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
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

func TestDefaultRuntimeDir(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write to /run")
	}
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/1")
	if dir := defaultRuntimeDir(); dir != "/run/user/1/fairway" && dir != "/run/fairway" {
		t.Errorf("runtime directory %s", dir)
	}
}
