// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:generate go test . -run TestDocs -update

func TestDocs(t *testing.T) {
	for _, what := range []string{"commands", "flags"} {
		var want, stderr bytes.Buffer
		if status := run([]string{"fairway", "docs", what}, nil, &want, &stderr); status != 0 {
			t.Fatalf("fairway docs %s exits with %d: %s", what, status, stderr.String())
		}
		if what == "flags" {
			want.WriteString(flagTests(t))
		}
		path := "../../docs/" + what + ".md"
		if *update {
			if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), want.String()); diff != "" {
			t.Errorf("docs/%s.md (-is +should); go test ./cmd/fairway -update rewrites it:\n%s", what, diff)
		}
	}
}
