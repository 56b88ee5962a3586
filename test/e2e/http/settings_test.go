// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// applySettings brings settings into force for one plain route, as after a start.
func applySettings(t *testing.T, text string) {
	t.Helper()
	shared.inForce = nil
	shared.apply(t, rule("web", "h.example", "/", "web", ""), text)
	t.Cleanup(func() { shared.apply(t, rule("web", "h.example", "/", "web", ""), "") })
}

// connection is a connection of a client that sends what it likes.
type connection struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func connect(t *testing.T, address string) *connection {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	return &connection{t, conn, bufio.NewReader(conn)}
}

func dial(t *testing.T) *connection { return connect(t, fmt.Sprintf("127.0.0.1:%d", shared.httpPort)) }

// ask sends a request and gives the answer, nil when the connection was closed instead.
func (c *connection) ask(request string) *http.Response {
	c.t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		return nil
	}
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	return answer
}

const simple = "GET / HTTP/1.1\r\nHost: h.example\r\n\r\n"

// closed tells whether the other side closes the connection within a while.
func (c *connection) closed(within time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(within))
	_, err := c.in.ReadByte()
	var patience net.Error
	return err != nil && (!errors.As(err, &patience) || !patience.Timeout())
}

func TestClientTimeouts(t *testing.T) {
	applySettings(t, "client-header-timeout: \"1\"\nclient-body-timeout: \"1\"\n")
	header := dial(t)
	fmt.Fprint(header, "GET / HTTP/1.1\r\nHost: h.example\r\n") // and no more
	if !header.closed(10 * time.Second) {
		t.Error("a header that does not end is waited for")
	}
	begin := len(shared.access.String())
	body := dial(t)
	fmt.Fprint(body, "POST /slow HTTP/1.1\r\nHost: h.example\r\nContent-Length: 10\r\n\r\n12345")
	if !body.closed(10 * time.Second) { // nginx resets connections that time out, so that the client does not always see the answer
		t.Error("a body that does not end is waited for")
	}
	if line := awaitLog(begin, "POST /slow"); !strings.Contains(line, " 408 ") {
		t.Errorf("the log says %q", line)
	}
}

func TestKeepAlive(t *testing.T) {
	applySettings(t, "keep-alive: \"1\"\nkeep-alive-requests: \"2\"\n")
	c := dial(t)
	first, second := c.ask(simple), c.ask(simple)
	if first == nil || second == nil || first.Close || !second.Close {
		t.Errorf("of two requests: %+v, %+v", first, second)
	}
	idle := dial(t)
	if idle.ask(simple) == nil || !idle.closed(10*time.Second) {
		t.Error("an idle connection is kept")
	}
	applySettings(t, "keep-alive: \"0\"\n")
	if answer := dial(t).ask(simple); answer == nil || !answer.Close {
		t.Errorf("without keep-alive: %+v", answer)
	}
}

// backendConnections counts the connections that requests reach the backend by.
func backendConnections(t *testing.T, requests int, pause time.Duration) int {
	t.Helper()
	ports := map[string]bool{}
	for range requests {
		r, err := newRequest("GET", "http://h.example/")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := r.send(shared)
		if err != nil {
			t.Fatal(err)
		}
		ports[answer.saw.Client] = true
		time.Sleep(pause)
	}
	return len(ports)
}

func TestUpstreamKeepalive(t *testing.T) {
	const one = "worker-processes: \"1\"\n"
	for _, c := range []struct {
		name, settings  string
		requests, least int
		pause           time.Duration
	}{
		{"requests", one + "upstream-keepalive-requests: \"2\"\n", 6, 3, 0},
		{"timeout", one + "upstream-keepalive-timeout: \"1\"\n", 2, 2, 1500 * time.Millisecond},
		{"time", one + "upstream-keepalive-time: 1s\n", 3, 2, 1100 * time.Millisecond},
		{"none kept", one + "upstream-keepalive-connections: \"0\"\n", 3, 3, 0},
	} {
		applySettings(t, c.settings)
		if got := backendConnections(t, c.requests, c.pause); got < c.least {
			t.Errorf("%s: %d requests over %d connections, want %d at least", c.name, c.requests, got, c.least)
		}
	}
	applySettings(t, one)
	if got := backendConnections(t, 6, 0); got != 1 {
		t.Errorf("by default: 6 requests over %d connections", got)
	}
}

// TestStreamsOfAConnection reads what nginx tells a client of HTTP/2 (RFC 9113, 6.5).
func TestStreamsOfAConnection(t *testing.T) {
	applySettings(t, "http2-max-concurrent-streams: \"7\"\n")
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort), &tls.Config{ServerName: "h.example", InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, 9)
	if _, err := io.ReadFull(conn, frame); err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, int(frame[0])<<16|int(frame[1])<<8|int(frame[2]))
	if _, err := io.ReadFull(conn, payload); err != nil {
		t.Fatal(err)
	}
	const settingsFrame, concurrentStreams = 4, 3
	if frame[3] != settingsFrame {
		t.Fatalf("the first frame is %v", frame)
	}
	for ; len(payload) >= 6; payload = payload[6:] {
		if payload[1] == concurrentStreams && payload[5] == 7 {
			return
		}
	}
	t.Error("nginx does not say that 7 streams are the most")
}

func TestBindAddress(t *testing.T) {
	applySettings(t, "bind-address: 127.0.0.1, 127.0.0.9\n")
	if answer := connect(t, fmt.Sprintf("127.0.0.9:%d", shared.httpPort)).ask(simple); answer == nil || answer.StatusCode != 200 {
		t.Errorf("the second address answers %+v", answer)
	}
	applySettings(t, "")
	if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.9:%d", shared.httpPort)); err == nil {
		conn.Close()
		t.Error("an address that was taken out still listens")
	}
}

// logged waits for a file to contain a text.
func logged(t *testing.T, path, text string) bool {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if content, err := os.ReadFile(path); err == nil && strings.Contains(string(content), text) {
			return true
		}
	}
	return false
}

func logFolder(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "fairway-logs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestLogPaths(t *testing.T) {
	dir := logFolder(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	socket := path("stream.sock")
	stream := "stream-snippet: \"server { listen unix:" + socket + "; return ok; }\"\nlog-format-stream: \"session $status of $protocol\"\n"
	applySettings(t, "access-log-path: "+path("all.log")+"\nerror-log-path: "+path("error.log")+"\nerror-log-level: info\naccess-log-params: buffer=4k flush=1s\n"+stream)
	dial(t).ask("GET /one HTTP/1.1\r\nHost: h.example\r\n\r\n")
	dial(t).ask("GET / HTTP/1.1\r\nHost: a b\r\n\r\n")
	session(t, socket)
	for name, text := range map[string]string{"request": "GET /one", "session": "session 200 of TCP"} {
		if !logged(t, path("all.log"), text) {
			t.Errorf("the %s is not in the access log", name)
		}
	}
	if !logged(t, path("error.log"), "client sent invalid host header") {
		t.Error("the error log lacks the error")
	}
	applySettings(t, "access-log-path: "+path("rest.log")+"\nhttp-access-log-path: "+path("http.log")+"\nstream-access-log-path: "+path("stream.log")+"\n"+stream)
	dial(t).ask("GET /two HTTP/1.1\r\nHost: h.example\r\n\r\n")
	session(t, socket)
	if !logged(t, path("http.log"), "GET /two") || !logged(t, path("stream.log"), "session 200") {
		t.Error("the logs are not in the files of their own")
	}
	applySettings(t, "stream-access-log-path: "+path("none.log")+"\ndisable-stream-access-log: \"true\"\n"+stream)
	session(t, socket)
	if content, _ := os.ReadFile(path("none.log")); len(content) > 0 {
		t.Errorf("a log that is off has %q", content)
	}
	applySettings(t, "access-log-path: "+path("no/such/folder.log")+"\n")
	if got := shared.problemLines(); !strings.Contains(got, "nginx refuses the configuration that it leads to") {
		t.Errorf("a log that cannot be opened: %s", got)
	}
	if answer := dial(t).ask(simple); answer == nil || answer.StatusCode != 200 {
		t.Errorf("then requests are answered with %+v", answer)
	}
}

// session opens and closes a session of the stream server, once the server is there.
func session(t *testing.T, socket string) {
	t.Helper()
	conn, err := net.DialTimeout("unix", socket, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(conn)
	conn.Close()
}

func TestSyslog(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	applySettings(t, fmt.Sprintf("enable-syslog: \"true\"\nsyslog-host: 127.0.0.1\nsyslog-port: \"%d\"\naccess-log-params: gzip\n", server.LocalAddr().(*net.UDPAddr).Port))
	dial(t).ask("GET /to-syslog HTTP/1.1\r\nHost: h.example\r\n\r\n")
	_ = server.SetReadDeadline(time.Now().Add(10 * time.Second))
	message := make([]byte, 4096)
	for {
		n, _, err := server.ReadFrom(message)
		if err != nil {
			t.Fatalf("no message with the request: %v", err)
		}
		if strings.Contains(string(message[:n]), "GET /to-syslog") {
			return
		}
	}
}

// TestRefusedSettings breaks settings in ways that only nginx sees: what was in force stays, and at the start what is no part of nginx.conf.
func TestRefusedSettings(t *testing.T) {
	const bad = "log-format-upstream: \"$no_such_variable\"\ndenylist-source-range: 127.0.0.0/8\nserver-tokens: \"true\"\n"
	cluster := rule("web", "h.example", "/", "web", "")
	ask := func() *http.Response {
		t.Helper()
		answer := dial(t).ask(simple)
		if answer == nil {
			t.Fatal("no answer")
		}
		return answer
	}
	shared.inForce = nil
	shared.apply(t, cluster, "log-format-upstream: good")
	if change := shared.apply(t, cluster, bad); change.Reload {
		t.Errorf("a reload because of %v", change.Reasons)
	}
	if got := shared.problemLines(); !strings.Contains(got, "the settings before it stay in force") || !strings.Contains(got, "no_such_variable") {
		t.Errorf("problems: %s", got)
	}
	if answer := ask(); answer.StatusCode != 200 || answer.Header.Get("Server") != "" {
		t.Errorf("the settings before are not in force: %+v", answer)
	}
	shared.inForce = nil // as after a start
	shared.apply(t, cluster, bad)
	if got := shared.problemLines(); !strings.Contains(got, "the defaults are in force for all settings that cost a reload") {
		t.Errorf("problems: %s", got)
	}
	if answer := ask(); answer.StatusCode != 403 || answer.Header.Get("Server") != "" {
		t.Errorf("controls are not in force, or others are: %+v", answer)
	}
	shared.apply(t, cluster, strings.ReplaceAll(bad, "$no_such_variable", "$status"))
	if answer := ask(); answer.StatusCode != 403 || answer.Header.Get("Server") == "" || shared.problemLines() != "" {
		t.Errorf("repaired settings are not in force: %+v %s", answer, shared.problemLines())
	}
	shared.apply(t, cluster, "")
}

// TestTogetherRefused has raw parts that nginx takes alone but not together: the later one goes, and comes when the other is gone.
func TestTogetherRefused(t *testing.T) {
	cluster := rule("web", "h.example", "/", "web", "")
	const one, two = "main-snippet: \"env TZ;\"\nhttp-snippet: \"gzip on;\"\n", "use-gzip: \"true\"\n"
	shared.inForce = nil
	shared.apply(t, cluster, one+two)
	if got := shared.problemLines(); !strings.Contains(got, "data[http-snippet]: InvalidSnippet") || strings.Contains(got, "main-snippet") {
		t.Errorf("problems: %s", got)
	}
	shared.apply(t, cluster, one)
	if got := shared.problemLines(); got != "" {
		t.Errorf("what was refused together with another setting is refused alone: %s", got)
	}
	shared.apply(t, cluster, "")
}
