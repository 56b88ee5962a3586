// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"reflect"
	"strings"
	"testing"
)

func TestSplitLogFormat(t *testing.T) {
	text := func(s string) LogPart { return LogPart{Text: s} }
	variable := func(s string) LogPart { return LogPart{Variable: s} }
	for format, want := range map[string][]LogPart{
		"":                    nil,
		"plain":               {text("plain")},
		"$a":                  {variable("a")},
		"[$a_1] ${b}c$d.":     {text("["), variable("a_1"), text("] "), variable("b"), text("c"), variable("d"), text(".")},
		"5$ and ${x and ${}$": {text("5$ and ${x and ${}$")},
		"$a$b":                {variable("a"), variable("b")},
	} {
		if got := SplitLogFormat(format); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v", format, got)
		}
	}
}

// FuzzSplitLogFormat puts a format together again from its parts.
func FuzzSplitLogFormat(f *testing.F) {
	f.Add(DefaultStreamLogFormat)
	f.Add("${a}b$c${")
	f.Fuzz(func(t *testing.T, format string) {
		var again strings.Builder
		for _, part := range SplitLogFormat(format) {
			if (part.Text == "") == (part.Variable == "") {
				t.Fatalf("a part of %q is %+v", format, part)
			}
			again.WriteString(part.Text)
			if part.Variable != "" {
				again.WriteString("${" + part.Variable + "}")
			}
		}
		if got, want := strings.NewReplacer("{", "", "}", "").Replace(again.String()), strings.NewReplacer("{", "", "}", "").Replace(format); got != want {
			t.Errorf("%q came to %q", format, again.String())
		}
	})
}
