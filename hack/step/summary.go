// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// How long a summary may be: it is written for logs of which only the last lines are kept.
const (
	mostLines   = 60
	mostColumns = 300
	// mostNames failures are named, and what the first mostTold printed is shown.
	mostNames = 24
	mostTold  = 12
	// mostOfMessage are the lines of one message, as tests log whole files; mostOfCrash those of what the Go runtime says.
	mostOfMessage = 6
	mostOfCrash   = 6
)

// summarize prints what failed in a step.
func summarize(to io.Writer, step string, status int, failures []failure) {
	fmt.Fprintf(to, "\n== FAILED: %s (exit status %d)\n", step, status)
	named := failures[:min(len(failures), mostNames)]
	room, left := mostLines-3-len(named), min(len(named), mostTold)
	for _, f := range named {
		fmt.Fprintf(to, "--- FAIL: %s\n", strings.TrimSpace(strings.TrimPrefix(f.pkg, module)+" "+f.test))
		if left == 0 {
			continue
		}
		// What one leaves of its share the next ones have.
		lines := f.told(room / left)
		for _, line := range lines {
			fmt.Fprintf(to, "    %s\n", clip(line))
		}
		room -= len(lines)
		left--
	}
	if more := len(failures) - len(named); more > 0 {
		fmt.Fprintf(to, "and %d more\n", more)
	}
}

const module = "github.com/fairway-ingress/fairway/"

// told are at most so many lines of a failure: its messages, or if it has none the end of what it printed.
func (f failure) told(most int) []string {
	all := messages(f.lines)
	if len(all) == 0 {
		return f.lines[max(0, len(f.lines)-most):]
	}
	var lines []string
	for _, message := range all {
		if crashed.MatchString(message[0]) {
			message = message[:min(len(message), mostOfCrash)]
		}
		lines = append(lines, cut(message, mostOfMessage)...)
	}
	return cut(lines, most)
}

// cut leaves out lines beyond the given number: in the middle, as the first ones say what happened and the last ones how it ended.
func cut(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	last := most / 2
	first := max(most-last-1, 0)
	gap := fmt.Sprintf("    ... %d lines ...", len(lines)-first-last)
	return slices.Concat(lines[:first], []string{gap}, lines[len(lines)-last:])
}

// clip shortens a line that is very long.
func clip(line string) string {
	line = strings.ReplaceAll(line, "\t", "  ")
	if len(line) > mostColumns {
		line = strings.ToValidUTF8(line[:mostColumns], "") + "..."
	}
	return line
}

var (
	// logged begins what a test says by t.Error, t.Fatal or t.Log, which cannot be told apart; its other lines are indented further.
	logged = regexp.MustCompile(`^ {4}\S+\.go:\d+: `)
	// crashed begins what the Go runtime says.
	crashed = regexp.MustCompile(`^(panic: |fatal error: |WARNING: DATA RACE)`)
	// foreign are lines of a stack that are in Go's own code: the name of a function, then its file.
	foreign = regexp.MustCompile(`^\s*(goroutine \d|created by |testing\.|runtime\.|panic\(|\S*/src/(runtime|testing)/|=+$)`)
)

// messages are what a test said by its file and line, and what the Go runtime said of it, as lines without their indent.
func messages(lines []string) [][]string {
	var all [][]string
	crash, open := false, false
	for _, line := range lines {
		switch {
		case logged.MatchString(line), crashed.MatchString(line) && !crash:
			crash, open = !strings.HasPrefix(line, " "), true
			all = append(all, []string{strings.TrimPrefix(line, "    ")})
		case open && crash && !foreign.MatchString(line), open && strings.HasPrefix(line, "        "):
			all[len(all)-1] = append(all[len(all)-1], strings.TrimPrefix(line, "    "))
		default:
			open = open && crash
		}
	}
	return all
}
