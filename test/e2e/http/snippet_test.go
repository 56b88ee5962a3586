// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const snippetSettings = "allow-snippet-annotations: \"true\"\nannotations-risk-level: Critical\n"

// TestStreamSnippet looks whether nginx listens where the snippet says.
func TestStreamSnippet(t *testing.T) {
	socket := filepath.Join(os.TempDir(), fmt.Sprintf("fairway-stream-test-%d.sock", os.Getpid()))
	defer os.Remove(socket)
	with := rule("stream", "stream.example", "/", "web", prefix+"stream-snippet: \"server { listen unix:"+socket+"; return hello; }\"")
	if change := shared.apply(t, with, snippetSettings); !change.Reload {
		t.Error("no reload")
	}
	conn, err := net.DialTimeout("unix", socket, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if text, err := io.ReadAll(conn); err != nil || string(text) != "hello" {
		t.Errorf("the stream answers %q, %v", text, err)
	}
	shared.apply(t, rule("stream", "stream.example", "/", "web", ""), snippetSettings)
}

// TestSnippetsReloadOnce checks that a snippet which is known costs no further reload, and a change of another Ingress neither.
func TestSnippetsReloadOnce(t *testing.T) {
	snippet := prefix + "configuration-snippet: \"more_set_headers 'X-Once: 1';\""
	one := rule("one", "one.example", "/", "web", snippet)
	shared.apply(t, one, snippetSettings)
	for name, cluster := range map[string]string{
		"a neighbour":     one + rule("plain", "plain.example", "/", "blue", ""),
		"the same text":   one + rule("two", "two.example", "/", "blue", snippet),
		"another backend": rule("one", "one.example", "/", "green", snippet),
	} {
		if change := shared.apply(t, cluster, snippetSettings); change.Reload {
			t.Errorf("%s: reload because of %v", name, change.Reasons)
		}
	}
}
