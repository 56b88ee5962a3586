// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

// FuzzOtherNames checks that only names and expressions pass, that none is the catch-all host, and that nothing is lost without a word.
func FuzzOtherNames(f *testing.F) {
	for _, seed := range []string{"a.example,*.b.example", ".c.example", "~^x$", "_", "*", "~", "~(", "a\nb", "A.Example, a.example", "{;}", "*.*.x", ".*.x", "\xff"} {
		f.Add(seed)
	}
	name := regexp.MustCompile(`^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseOtherNames(text)
		given := 0
		for item := range strings.SplitSeq(text, ",") {
			if strings.TrimSpace(item) != "" {
				given++
			}
		}
		if (err == nil) != (given > 0) {
			t.Fatalf("%q: %v", text, err)
		}
		if given > 0 && len(v.names)+len(v.patterns)+len(v.wrong) == 0 {
			t.Errorf("%q: nothing is said of it", text)
		}
		if !slices.IsSorted(v.names) || slices.Contains(v.names, model.CatchAll) {
			t.Errorf("%q: names %q", text, v.names)
		}
		for _, n := range v.names {
			if !name.MatchString(n) || len(n) > 255 {
				t.Errorf("%q: name %q", text, n)
			}
		}
		for _, p := range v.patterns {
			if _, err := regexp.Compile(p); err != nil || strings.ContainsAny(p, "\x00\r\n\t") {
				t.Errorf("%q: pattern %q: %v", text, p, err)
			}
		}
	})
}
