// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tests are two packages: one with tests that fail in all ways, one that is not built.
var tests = map[string]string{
	"go.mod": "module example.com/m\ngo 1.26.0\n",
	"a/a_test.go": `package a
import ("fmt"; "testing"; "strings")
func TestGood(t *testing.T) { t.Log("of no interest") }
func TestBad(t *testing.T) {
	t.Run("same", func(t *testing.T) { fmt.Println("noise"); t.Errorf("got 1\nwant 2"); t.Fatal("the end") })
	t.Run("other", func(t *testing.T) { t.Log("not told") })
}
func TestLong(t *testing.T) { t.Error(strings.Repeat("line\n", 1000)); t.Error("last") }
func TestSilent(t *testing.T) { fmt.Println("some words"); t.Fail() }
func TestPanic(t *testing.T) { panic("boo") }
`,
	"b/b_test.go": "package b\nimport \"testing\"\nfunc TestB(t *testing.T) { undefined() }\n",
	"c/c_test.go": "package c\nimport (\"os\"; \"testing\")\nfunc TestC(t *testing.T) { println(\"good bye\"); os.Exit(3) }\n",
}

// TestTests runs them: the end of the output has what went wrong in each, and nothing of the good ones.
func TestTests(t *testing.T) {
	dir := t.TempDir()
	for name, text := range tests {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	status, err := step("all tests", []string{"go", "test", "-C", dir, "-vet=off", "./..."}, &out)
	if err != nil || status != 1 {
		t.Fatal(status, err)
	}
	progress, summary, _ := strings.Cut(out.String(), "\n== ")
	if strings.Contains(progress, "of no interest") || !strings.Contains(progress, "noise") {
		t.Error("the output of failed tests is shown, and of no others:\n", progress)
	}
	for _, want := range []string{
		"FAILED: all tests (exit status 1)\n",
		"--- FAIL: example.com/m/a TestBad/same\n    a_test.go:5: got 1\n        want 2\n    a_test.go:5: the end\n",
		"--- FAIL: example.com/m/a TestLong\n    a_test.go:8: line\n        line\n        ... 995 lines ...\n        line\n",
		"    a_test.go:8: last\n",
		"--- FAIL: example.com/m/a TestSilent\n    some words\n",
		"--- FAIL: example.com/m/a TestPanic\n    panic: boo",
		"b_test.go:3:28: undefined: undefined\n",
		"--- FAIL: example.com/m/c TestC (had not ended)\n    good bye\n",
	} {
		if !strings.Contains(summary, want) {
			t.Errorf("not told: %q", want)
		}
	}
	if t.Failed() || strings.Contains(summary, "TestGood") || strings.Contains(summary, "not told") {
		t.Error(summary)
	}
}

// TestOtherCommand has a command that is no test: what it prints is passed on, and then its step is named.
func TestOtherCommand(t *testing.T) {
	var out strings.Builder
	status, err := step("words", []string{"sh", "-c", "echo some; echo words; exit 7"}, &out)
	if want := "some\nwords\n\n== FAILED: words (exit status 7)\n"; err != nil || status != 7 || out.String() != want {
		t.Errorf("%d, %v:\n%s", status, err, &out)
	}
	out.Reset()
	if status, err := step("words", []string{"true"}, &out); err != nil || status != 0 || out.String() != "" {
		t.Errorf("%d, %v:\n%s", status, err, &out)
	}
}

// TestLength has ever more failures: the summary stays short.
func TestLength(t *testing.T) {
	var failures []failure
	for i := range 100 {
		failures = append(failures, failure{"p", fmt.Sprint("Test", i), slices.Repeat([]string{"    a_test.go:1: words", "        more"}, 50)})
	}
	for n := range failures {
		var out strings.Builder
		summarize(&out, "tests", 1, failures[:n])
		if lines := strings.Count(out.String(), "\n"); lines > mostLines {
			t.Errorf("%d failures: %d lines:\n%s", n, lines, &out)
		}
	}
}
