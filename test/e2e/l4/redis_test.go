// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"bytes"
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/test/freeport"
)

// TestRedis talks to a Redis server by its own client: commands, a large value, many commands at once, and one that waits while endpoints change.
func TestRedis(t *testing.T) {
	for _, program := range []string{"redis-server", "redis-cli"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: hack/install-packages.sh test installs it", err)
		}
	}
	port, behind := freeport.Take(t), freeport.Take(t)
	redis := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", strconv.Itoa(behind), "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := redis.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = redis.Process.Kill()
		_ = redis.Wait()
	})
	endpoint := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(behind))
	o := to(port, endpoint)
	c := start(t, o)
	run := func(stdin string, arguments ...string) (string, error) {
		cli := exec.Command("redis-cli", append([]string{"-h", "127.0.0.1", "-p", strconv.Itoa(port)}, arguments...)...)
		cli.Stdin = strings.NewReader(stdin)
		out, err := cli.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	c.Eventually("Redis answers", func() bool { out, _ := run("", "PING"); return out == "PONG" })
	demand := func(want, stdin string, arguments ...string) {
		t.Helper()
		if out, err := run(stdin, arguments...); err != nil || out != want {
			t.Errorf("%s: %v: %.200q, want %.200q", arguments[0], err, out, want)
		}
	}
	demand("OK", "", "SET", "greeting", "hello")
	demand("hello", "", "GET", "greeting")
	large := strings.Repeat("0123456789abcdef", 1<<20) // 16 MiB
	demand("OK", large, "-x", "SET", "large")
	demand(large, "", "GET", "large")
	var commands bytes.Buffer
	for range 100000 {
		commands.WriteString("INCR counter\r\n")
	}
	if out, err := run(commands.String(), "--pipe"); err != nil || !strings.Contains(out, "errors: 0, replies: 100000") {
		t.Errorf("many at once: %v: %s", err, out)
	}
	demand("100000", "", "GET", "counter")

	waited := make(chan string, 1)
	go func() {
		out, err := run("", "BLPOP", "queue", "0")
		waited <- fmt.Sprint(out, err)
	}()
	blocked := func() bool { out, _ := run("", "INFO", "clients"); return strings.Contains(out, "blocked_clients:1") }
	c.Eventually("a client waits", blocked)
	o.services["one"] = []netip.AddrPort{endpoint, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.9"), uint16(behind))}
	c.apply(o)
	c.Eventually("the endpoints are others", func() bool { return len(c.listener(port)) == 2 })
	demand("1", "", "RPUSH", "queue", "news")
	if out := <-waited; !strings.Contains(out, "news") {
		t.Errorf("who waited got %q", out)
	}
}
