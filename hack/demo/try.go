// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// try is a command for people to run, and what it should print.
type try struct {
	title string
	args  []string
	want  string // part of the output
}

var plain = regexp.MustCompile(`^[a-zA-Z0-9_./:=@%+,-]+$`)

// String gives the command line as one types it into a shell.
func (t try) String() string {
	words := make([]string, len(t.args))
	for i, arg := range t.args {
		words[i] = arg
		if !plain.MatchString(arg) {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// run executes the command and compares.
func (t try) run(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, t.args[0], t.args[1:]...).Output()
	// curl calls it an error when it left a WebSocket after --max-time.
	if !strings.Contains(string(out), t.want) {
		return fmt.Errorf("%s\n  gave no %q but (%v)\n%s", t, t.want, err, out)
	}
	return nil
}

// tryAll runs all of them and tells how each went.
func tryAll(ctx context.Context, tries []try) error {
	failed := 0
	for _, t := range tries {
		if err := t.run(ctx); err != nil {
			failed++
			fmt.Printf("FAIL %s: %v\n", t.title, err)
			continue
		}
		fmt.Printf("ok   %s\n", t.title)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d did not give what they should", failed, len(tries))
	}
	return nil
}

// get is a curl for a host and path over plain HTTP, as -H lets it work without any DNS.
func (o options) get(host, path string, more ...string) []string {
	args := append([]string{"curl", "-s"}, more...)
	return append(args, "-H", "Host: "+host, fmt.Sprintf("http://127.0.0.1:%d%s", o.httpPort, path))
}

// getTLS is a curl for a host and path over HTTPS.
func (o options) getTLS(host, path string, more ...string) []string {
	args := append([]string{"curl", "-s"}, more...)
	return append(args, "--resolve", fmt.Sprintf("%s:%d:127.0.0.1", host, o.httpsPort), fmt.Sprintf("https://%s:%d%s", host, o.httpsPort, path))
}

// webSocket is a curl that opens a WebSocket and listens for three seconds.
func (o options) webSocket(host string) []string {
	return o.get(host, "/", "-iN", "--http1.1", "--max-time", "3", "--output", "-", "-H", "Connection: Upgrade", "-H", "Upgrade: websocket",
		"-H", "Sec-WebSocket-Version: 13", "-H", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
}
