// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is a line that `go test -json` prints; see `go doc test2json` and `go help buildjson`.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	FailedBuild string
}

// failure is a test that failed, or with test empty a package that failed without one: it was not built, or its process ended.
type failure struct {
	pkg, test string
	lines     []string
}

// output is a piece of what a test or one of its subtests printed.
type output struct{ test, text string }

// report prints what the events of a run say and remembers its failures.
type report struct {
	to      io.Writer
	verbose bool
	// pending is what the tests printed that still run, by package and outermost test, and what a package printed outside of tests, where
	// the name of the test is empty.
	pending map[[2]string][]output
	// builds is what the compiler said, by the package it said it of.
	builds   map[string][]output
	failures []failure
}

func newReport(to io.Writer, verbose bool) *report {
	return &report{to: to, verbose: verbose, pending: map[[2]string][]output{}, builds: map[string][]output{}}
}

// line takes a line of `go test -json`. What is no event is shown as it is.
func (r *report) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		_, _ = r.to.Write(line)
		return
	}
	outermost, _, sub := strings.Cut(e.Test, "/")
	key := [2]string{e.Package, outermost}
	switch e.Action {
	case "build-output":
		r.print(e.Output)
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], output{"", e.Output})
	case "output":
		r.pending[key] = append(r.pending[key], output{e.Test, e.Output})
	case "pass", "skip", "fail":
		if e.Action == "fail" {
			r.fail(e, r.pending[key])
		}
		if !sub {
			r.show(r.pending[key], r.verbose || e.Action == "fail")
			delete(r.pending, key)
		}
	}
}

// result is a line about a whole package; progress is what a test binary says of the tests that it starts and halts.
var (
	result   = regexp.MustCompile(`^(ok  |FAIL|\?   )\t`)
	progress = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME) |PASS$|FAIL$)`)
)

// show prints what a test or a package printed: all of it, or only how the package fared.
func (r *report) show(pending []output, all bool) {
	for _, printed := range pending {
		if result.MatchString(printed.text) || all && !progress.MatchString(strings.TrimSpace(printed.text)) {
			r.print(printed.text)
		}
	}
}

func (r *report) print(text string) { _, _ = io.WriteString(r.to, text) }

// fail remembers a failure. A test that failed only because of its subtests is told by those, and a package by its tests.
func (r *report) fail(e event, pending []output) {
	lines := own(pending, e.Test)
	if e.FailedBuild != "" {
		lines = own(r.builds[e.FailedBuild], "")
		// One package that is not built fails all that need it.
		delete(r.builds, e.FailedBuild)
	} else if e.Test == "" {
		r.interrupted(e.Package)
	}
	told := slices.ContainsFunc(r.failures, func(f failure) bool {
		return f.pkg == e.Package && (e.Test == "" || strings.HasPrefix(f.test, e.Test+"/"))
	})
	if !told || e.Test != "" && len(messages(lines)) > 0 {
		r.failures = append(r.failures, failure{e.Package, e.Test, lines})
	}
}

// interrupted counts the tests of a package as failed that were running when its process ended; no event tells of their end.
func (r *report) interrupted(pkg string) {
	var failures []failure
	for key, pending := range r.pending {
		if key[0] != pkg || key[1] == "" {
			continue
		}
		r.show(pending, true)
		delete(r.pending, key)
		for i := range pending {
			pending[i].test = key[1]
		}
		failures = append(failures, failure{pkg, key[1] + " (had not ended)", own(pending, key[1])})
	}
	slices.SortFunc(failures, func(a, b failure) int { return strings.Compare(a.test, b.test) })
	r.failures = append(r.failures, failures...)
}

// own are the lines that a test printed itself, without those of its subtests.
func own(all []output, test string) []string {
	var text strings.Builder
	for _, printed := range all {
		if printed.test == test {
			text.WriteString(printed.text)
		}
	}
	return slices.DeleteFunc(strings.Split(text.String(), "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || progress.MatchString(line) || result.MatchString(line) || strings.HasPrefix(line, "--- ")
	})
}
