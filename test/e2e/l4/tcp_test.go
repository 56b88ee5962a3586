// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/freeport"
)

// TestGigabyte sends a gibibyte to an echo and compares checksums.
func TestGigabyte(t *testing.T) {
	const size = 1 << 30
	port := freeport.Take(t)
	c := start(t, to(port, server(t, "127.0.0.1:0", echo)))
	conn := connect(t, port)
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	sent, received := sha256.New(), sha256.New()
	begin := time.Now()
	go func() {
		random := rand.NewChaCha8([32]byte{1})
		if _, err := io.CopyN(io.MultiWriter(conn.TCPConn, sent), random, size); err != nil {
			t.Errorf("send: %v", err)
		}
		_ = conn.CloseWrite()
	}()
	n, err := io.Copy(received, conn.TCPConn)
	if err != nil || n != size {
		t.Fatalf("%d bytes came back: %v", n, err)
	}
	if string(sent.Sum(nil)) != string(received.Sum(nil)) {
		t.Error("other bytes came back")
	}
	t.Logf("took %s", time.Since(begin))
	for _, direction := range []string{"in", "out"} {
		c.Eventually("the bytes are counted", func() bool {
			return c.Metric("fairway_stream_bytes_total", direction, fmt.Sprintf("port=\"%d\"", port), `service="one"`) == size
		})
	}
	c.Eventually("the connection is counted", func() bool { return c.Metric("fairway_stream_connections_total", `outcome="done"`) == 1 })
}

func TestIPv6(t *testing.T) {
	port, six := freeport.Take(t), server(t, "[::1]:0", named("six"))
	start(t, to(port, six))
	for _, address := range []string{"::1", "127.0.0.1"} {
		conn, err := dialAt(address, port)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := conn.line(); text != "six" {
			t.Errorf("from %s: %q, %v", address, text, err)
		}
		conn.Close()
	}
}

func TestHalfClose(t *testing.T) {
	port := freeport.Take(t)
	said := make(chan string, 1)
	start(t, to(port, server(t, "127.0.0.1:0", func(conn *net.TCPConn) {
		all, _ := io.ReadAll(conn) // until the client has said all
		fmt.Fprintf(conn, "%d bytes\n", len(all))
		said <- string(all)
	})))
	conn := connect(t, port)
	_, _ = io.WriteString(conn, "a question")
	_ = conn.CloseWrite()
	if answer, err := conn.line(); answer != "10 bytes" {
		t.Errorf("%q, %v", answer, err)
	}
	if got := <-said; got != "a question" {
		t.Errorf("the server got %q", got)
	}
}

// TestPortsFollowTheConfigMap edits the ConfigMap: ports open and close at once, nothing else notices, and nginx is not reloaded.
func TestPortsFollowTheConfigMap(t *testing.T) {
	first, second, third := freeport.Take(t), freeport.Take(t), freeport.Take(t)
	o := to(first, server(t, "127.0.0.1:0", named("one")))
	o.services["two"] = []netip.AddrPort{server(t, "127.0.0.1:0", named("two"))}
	c := start(t, o)
	witness := connect(t, first)
	if text, err := witness.line(); text != "one" {
		t.Fatalf("%q, %v", text, err)
	}
	reloads := c.Metric("fairway_reload_total")
	edit := func(entries map[int]string) {
		o.tcp = entries
		c.apply(o)
	}

	edit(map[int]string{first: "default/one:1000", second: "default/two:main"})
	c.Eventually("a second port is open", func() bool { return name(second) == "two" })
	edit(map[int]string{first: "default/one:1000", second: "default/one:1000"})
	c.Eventually("it leads elsewhere", func() bool { return name(second) == "one" })
	edit(map[int]string{first: "default/one:1000", second: "default/two", c.HTTPPort: "default/two:1000"})
	c.Eventually("it is closed, as its entry is bad", func() bool { return refused(second) })
	for _, want := range []string{
		fmt.Sprintf("ConfigMap default/tcp data[%d]: InvalidListener: ", second), fmt.Sprintf("ConfigMap default/tcp data[%d]: InvalidListener: the port is that of --http-port", c.HTTPPort),
	} {
		if problems := c.Get("problems"); !strings.Contains(problems, want) {
			t.Errorf("%q is not among the problems:\n%s", want, problems)
		}
	}
	taken, err := net.Listen("tcp", fmt.Sprintf(":%d", third))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	edit(map[int]string{first: "default/one:1000", second: "default/two:1000", third: "default/two:1000"})
	c.Eventually("the second is open again", func() bool { return name(second) == "two" })
	unavailable := fmt.Sprintf("data[%d]: PortUnavailable: TCP %d cannot be opened", third, third)
	c.Eventually("somebody else has the third", func() bool { return strings.Contains(c.Get("problems"), unavailable) })
	taken.Close()
	c.Eventually("he has left it", func() bool { return name(third) == "two" })
	c.Eventually("nothing is said of it any more", func() bool { return !strings.Contains(c.Get("problems"), "PortUnavailable") })
	if list := c.Get("listeners"); !strings.Contains(list, fmt.Sprintf("TCP %d", third)) || !strings.Contains(list, "default/two/1000") {
		t.Errorf("listeners:\n%s", list)
	}
	edit(map[int]string{})
	c.Eventually("all are closed", func() bool { return refused(first) })
	if err := witness.ask("still there?"); err != nil {
		t.Errorf("a connection from before: %v", err)
	}
	if again := c.Metric("fairway_reload_total"); again != reloads {
		t.Errorf("nginx was reloaded %v times", again-reloads)
	}
}

// TestEndpointsComeAndGo: who is dead is passed over, and established connections outlive their endpoint for as long as the settings say.
func TestEndpointsComeAndGo(t *testing.T) {
	port := freeport.Take(t)
	one, two := server(t, "127.0.0.1:0", named("one")), server(t, "127.0.0.1:0", named("two"))
	dead := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.9"), one.Port()) // nobody listens there
	o := to(port, dead, one)
	c := start(t, o)
	for range 10 {
		if got := name(port); got != "one" {
			t.Fatalf("%q answers", got)
		}
	}
	if n := c.Metric("fairway_stream_connect_failures_total"); n < 1 {
		t.Error("the dead endpoint was never tried")
	}
	old := connect(t, port)
	_, _ = old.line()
	o.services["one"] = []netip.AddrPort{two}
	c.apply(o)
	c.Eventually("new connections go to the new endpoint", func() bool { return name(port) == "two" })
	if err := old.ask("still there?"); err != nil {
		t.Errorf("a connection from before: %v", err)
	}
	o.settings["worker-shutdown-timeout"] = "1s"
	c.apply(o)
	_ = old.SetDeadline(time.Now().Add(patience))
	if _, err := old.line(); err != io.EOF { //nolint:errorlint // bufio gives it as it is
		t.Errorf("the connection does not end when its time is over: %v", err)
	}
	o.services["one"] = nil
	c.apply(o)
	c.Eventually("nobody is there", func() bool { return name(port) == "" })
	if problems := c.Get("problems"); !strings.Contains(problems, "NoEndpoints") {
		t.Errorf("problems:\n%s", problems)
	}
}

// TestThousandChanges makes connections all the time, and keeps others open, while a thousand endpoints come or go.
func TestThousandChanges(t *testing.T) {
	const edits = 250 // of each of which two of four endpoints go, and two others come
	port := freeport.Take(t)
	var all []netip.AddrPort
	for i := range 8 {
		all = append(all, server(t, "127.0.0.1:0", named(fmt.Sprint("server ", i))))
	}
	o := to(port, all[:4]...)
	o.settings["worker-shutdown-timeout"] = "1h"
	c := start(t, o)
	load := newLoad(t, port)
	for i := range edits {
		at := 2 * (i + 1) % len(all)
		o.services["one"] = slices.Concat(all, all)[at : at+4]
		want := map[string]bool{}
		for _, e := range o.services["one"] {
			want[e.String()] = true
		}
		c.apply(o)
		c.Eventually("the change is in force", func() bool {
			got := c.listener(port)
			return len(got) == 4 && !slices.ContainsFunc(got, func(e string) bool { return !want[e] })
		})
	}
	made := load.end()
	t.Logf("%d edits, %d connections", edits, made)
	if made < 100 {
		t.Error("too few to say anything")
	}
	sum := 0.0
	for _, outcome := range []string{"reset", "idle", "drained", "refused", "no-endpoint", "unreachable"} {
		sum += c.Metric("fairway_stream_connections_total", `outcome="`+outcome+`"`)
	}
	if done := c.Metric("fairway_stream_connections_total", `outcome="done"`); done < float64(made) || sum != 0 {
		t.Errorf("%v connections are counted as done and %v as failed", done, sum)
	}
}

// load are clients that never stop, until they are told to.
type load struct {
	t       *testing.T
	clients sync.WaitGroup
	stop    chan struct{}
	made    atomic.Int64
	failed  atomic.Int64
}

func newLoad(t *testing.T, port int) *load {
	l := &load{t: t, stop: make(chan struct{})}
	for range 4 { // connections that are short
		l.clients.Go(func() {
			for ; !l.stopped(); l.made.Add(1) {
				l.briefly(port)
			}
		})
	}
	for range 20 { // and that last
		conn := connect(t, port)
		if _, err := conn.line(); err != nil {
			t.Fatal(err)
		}
		l.clients.Go(func() {
			for ; !l.stopped(); time.Sleep(20 * time.Millisecond) {
				if err := conn.ask("still there?"); err != nil {
					l.fail("a lasting connection", err)
					return
				}
			}
		})
	}
	return l
}

// briefly makes a connection, uses it and closes it.
func (l *load) briefly(port int) {
	conn, err := dial(port)
	if err != nil {
		l.fail("connect", err)
		return
	}
	defer conn.Close()
	if _, err := conn.line(); err != nil {
		l.fail("first line", err)
	} else if err := conn.ask("hello"); err != nil {
		l.fail("ask", err)
	}
	_ = conn.CloseWrite()
	_, _ = conn.line() // the end
	time.Sleep(time.Millisecond)
}

func (l *load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// end waits for the clients and gives how many short connections there were.
func (l *load) end() int64 {
	close(l.stop)
	l.clients.Wait()
	return l.made.Load()
}

func (l *load) fail(what string, err error) {
	if l.failed.Add(1) < 10 {
		l.t.Errorf("%s: %v", what, err)
	}
}
