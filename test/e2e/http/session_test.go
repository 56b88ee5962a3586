// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// resumes tells whether a client whose sessions are in the cache resumes one at a port. Clients get their sessions with the first answer.
func resumes(t *testing.T, port int, version uint16, cache tls.ClientSessionCache) bool {
	t.Helper()
	config := &tls.Config{ServerName: "session.example", InsecureSkipVerify: true, MaxVersion: version, ClientSessionCache: cache}
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: session.example\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil {
		t.Fatal(err)
	}
	return conn.ConnectionState().DidResume
}

const sessionHost = `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {rules: [{host: session.example, http: {paths: [` +
	`{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}`

// TestEarlyData sends a request in the first flight of a resumed session, which Go's client can't, and looks at what the backend is told.
func TestEarlyData(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("there is no openssl to send early data with")
	}
	dir := t.TempDir()
	session, request := filepath.Join(dir, "session"), filepath.Join(dir, "request")
	if err := os.WriteFile(request, []byte("GET /early HTTP/1.1\r\nHost: session.example\r\nEarly-Data: no\r\nConnection: close\r\n\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(stdin string, arguments ...string) string {
		t.Helper()
		arguments = append([]string{"s_client", "-connect", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort), "-servername", "session.example", "-tls1_3"}, arguments...)
		command := exec.Command(program, arguments...)
		command.Stdin = strings.NewReader(stdin)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Logf("openssl: %v", err)
		}
		return string(out)
	}
	plain := "GET /late HTTP/1.1\r\nHost: session.example\r\nEarly-Data: 1\r\nConnection: close\r\n\r\n"
	for _, c := range []struct{ value, word string }{{"true", "accepted"}, {"maybe", "rejected"}} {
		shared.apply(t, sessionHost, "ssl-early-data: \""+c.value+"\"")
		count := len(arrivals.since(0))
		run(plain, "-ign_eof", "-sess_out", session)
		out := run(plain, "-ign_eof", "-sess_in", session, "-early_data", request)
		if c.word == "accepted" && !strings.Contains(out, "Early data was accepted") {
			t.Errorf("%s: %s", c.value, out)
		}
		if c.word == "rejected" && strings.Contains(out, "Early data was accepted") {
			t.Errorf("%s: %s", c.value, out)
		}
		for _, saw := range arrivals.since(count) {
			// The handshake may be complete by the time the request is passed on; then it is no longer early (RFC 8470 section 5.2).
			if got := saw.Header.Get("Early-Data"); c.word == "accepted" && got != "" && (got != "1" || saw.URI == "/late") {
				t.Errorf("the backend saw Early-Data %q on %s", got, saw.URI)
			}
		}
	}
}

func newTicketKey() string {
	key := make([]byte, 80)
	_, _ = rand.Read(key)
	return base64.StdEncoding.EncodeToString(key)
}

// TestSessionTicketKey checks that the key of the settings is what counts: changed without a reload, the same for all workers, after a reload and
// on other replicas.
func TestSessionTicketKey(t *testing.T) {
	one, two := newTicketKey(), newTicketKey()
	settings := func(key, more string) string {
		return fmt.Sprintf("{ssl-session-cache: \"false\", ssl-session-tickets: \"true\", ssl-session-ticket-key: %q%s}", key, more)
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		shared.apply(t, sessionHost, settings(one, ""))
		cache := tls.NewLRUClientSessionCache(8)
		resumes(t, shared.httpsPort, version, cache)
		first, _ := cache.Get("session.example")
		expect := func(want bool, port int, why string) {
			t.Helper()
			for range 6 {
				cache.Put("session.example", first)
				if got := resumes(t, port, version, cache); got != want {
					t.Errorf("version %x, %s: resumed %v, want %v", version, why, got, want)
					return
				}
			}
		}
		reloads := shared.reloads
		expect(true, shared.httpsPort, "the same key")
		shared.apply(t, sessionHost, settings(two, ""))
		expect(false, shared.httpsPort, "another key")
		shared.apply(t, sessionHost, settings(one, ""))
		expect(true, shared.httpsPort, "the first key again")
		if shared.reloads != reloads {
			t.Errorf("%d reloads", shared.reloads-reloads)
		}
		shared.apply(t, sessionHost, settings(one, ", ssl-buffer-size: 8k"))
		if shared.reloads == reloads {
			t.Error("no reload")
		}
		expect(true, shared.httpsPort, "after a reload")
		other, err := newStage()
		if err != nil {
			t.Fatal(err)
		}
		other.backends = shared.backends
		other.apply(t, sessionHost, settings(one, ""))
		expect(true, other.httpsPort, "another replica")
		other.stop()
		<-other.stopped
	}
}
