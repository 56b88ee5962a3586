// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/freeport"
)

// queries lets a number of clients resolve names, as many as they were told or until stop is closed, and counts answers by who gave them.
func queries(t *testing.T, port, clients, each int, stop <-chan struct{}) (counts map[byte]int, failures []error) {
	t.Helper()
	counts = map[byte]int{}
	begin := make(chan struct{}, 100) // so many ask at the same moment
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range clients {
		c := dialUDP(t, "127.0.0.1", port)
		all.Go(func() {
			for n := range each {
				select {
				case <-stop:
					return
				case begin <- struct{}{}:
				}
				who, err := c.resolve(uint16(n), fmt.Sprintf("host-%d.client-%d.example.", n, i))
				<-begin
				mu.Lock()
				if err != nil {
					failures = append(failures, err)
				}
				counts[who]++
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return counts, failures
}

// TestThousandResolvers lets 1,000 clients ask 20,000 questions of DNS, of which each has to be answered.
func TestThousandResolvers(t *testing.T) {
	const clients, each = 1000, 20
	port := freeport.Take(t)
	one, two := startUDP(t, "127.0.0.1:0", resolver(1)), startUDP(t, "127.0.0.1:0", resolver(2))
	c := start(t, toUDP(port, one.address(), two.address()))
	begin := time.Now()
	counts, failures := queries(t, port, clients, each, nil)
	t.Logf("took %s", time.Since(begin))
	if len(failures) > 0 {
		t.Fatalf("%d clients were not answered; the first: %v", len(failures), failures[0])
	}
	if counts[1] != clients*each/2 || counts[2] != clients*each/2 {
		t.Errorf("%d and %d answers of endpoints that have the same share of sessions, and a session is one question", counts[1], counts[2])
	}
	at := fmt.Sprintf("port=\"%d\"", port)
	for _, direction := range []string{"in", "out"} {
		c.Eventually("datagrams are counted", func() bool {
			return c.Metric("fairway_stream_datagrams_total", direction, at, `transport="UDP"`, `service="one"`) == clients*each
		})
	}
	c.Eventually("sessions are over", func() bool {
		return c.Metric("fairway_stream_connections{", at) == 0 && c.Metric("fairway_stream_connections_total", `outcome="done"`, at) == clients*each
	})
	if lost := c.Metric("fairway_stream_datagrams_lost_total", at); lost != 0 {
		t.Errorf("%v datagrams were lost", lost)
	}
}

// TestEndpointsChangeUnderDatagrams takes endpoints away and brings them back while clients ask. Then one stops to listen and is not taken away.
func TestEndpointsChangeUnderDatagrams(t *testing.T) {
	port := freeport.Take(t)
	one, two, three := startUDP(t, "127.0.0.1:0", resolver(1)), startUDP(t, "127.0.0.1:0", resolver(2)), startUDP(t, "127.0.0.1:0", resolver(3))
	c := start(t, toUDP(port, one.address(), two.address(), three.address()))
	stop := make(chan struct{})
	var failures []error
	var all sync.WaitGroup
	all.Go(func() { _, failures = queries(t, port, 20, 1<<30, stop) })
	change := func(endpoints ...*udpServer) {
		var list []netip.AddrPort
		for _, e := range endpoints {
			list = append(list, e.address())
		}
		c.apply(toUDP(port, list...))
		c.Eventually("the endpoints are those", func() bool { return len(c.listener(port)) == len(list) })
	}
	for range 20 {
		change(one, two)
		change(one, two, three)
	}
	change(one, two)
	c.Eventually("an endpoint that has left is asked no more", func() bool {
		before := three.asked.Load()
		for _, other := range []*udpServer{one, two} {
			next := other.asked.Load() + 100
			c.Eventually("the others are asked", func() bool { return other.asked.Load() > next })
		}
		return three.asked.Load() == before
	})
	close(stop)
	all.Wait()
	if len(failures) > 0 {
		t.Errorf("%d clients were not answered; the first: %v", len(failures), failures[0])
	}

	two.conn.Close() // while nothing is on its way to it
	counts, failures := queries(t, port, 20, 100, nil)
	if len(failures) > 0 || counts[1] != 20*100 {
		t.Errorf("%d answers of the endpoint that is left, %v", counts[1], failures)
	}
	if c.Metric("fairway_stream_connect_failures_total", fmt.Sprintf("port=\"%d\"", port)) == 0 {
		t.Error("no refusal was counted")
	}
}

// TestResponsesOfUDP shows by turns of two endpoints when a session is over.
func TestResponsesOfUDP(t *testing.T) {
	port := freeport.Take(t)
	a, b := startUDP(t, "127.0.0.1:0", answers("a", 2)), startUDP(t, "127.0.0.1:0", answers("b", 2))
	objects := toUDP(port, a.address(), b.address())
	objects.settings["proxy-stream-responses"] = "2"
	c := start(t, objects)
	client := dialUDP(t, "127.0.0.1", port)
	for i := range 6 {
		first := client.ask("x")
		if second, err := client.hear(patience); err != nil || second != first {
			t.Errorf("%q, then %q, %v", first, second, err)
		}
		c.Eventually("the session is over", func() bool { return c.Metric("fairway_stream_connections_total", `outcome="done"`) == float64(i+1) })
	}
	if a.asked.Load() != 3 || b.asked.Load() != 3 {
		t.Errorf("endpoints were asked %d and %d times", a.asked.Load(), b.asked.Load())
	}

	objects.settings["proxy-stream-responses"] = "0" // each datagram is a session, and nobody waits
	c.apply(objects)
	told := int64(6)
	c.Eventually("the setting counts", func() bool {
		before := c.Metric("fairway_stream_connections_total", `outcome="done"`)
		if _, err := client.Write([]byte("y")); err != nil {
			t.Fatal(err)
		}
		told++
		_, err := client.hear(100 * time.Millisecond)
		return errors.Is(err, os.ErrDeadlineExceeded) && c.Metric("fairway_stream_connections_total", `outcome="done"`) == before+1
	})
	for range 50 {
		told++
		client = dialUDP(t, "127.0.0.1", port)
		if _, err := client.Write([]byte("<13>event")); err != nil {
			t.Fatal(err)
		}
	}
	c.Eventually("all arrive", func() bool { return a.asked.Load()+b.asked.Load() == told })
	if difference := a.asked.Load() - b.asked.Load(); difference < -1 || difference > 1 {
		t.Errorf("endpoints were told %d and %d times", a.asked.Load(), b.asked.Load())
	}

	objects.settings["proxy-stream-responses"] = "-1"
	objects.settings["proxy-stream-timeout"] = "1s"
	c.apply(objects)
	client = dialUDP(t, "127.0.0.1", port)
	c.Eventually("a session lasts", func() bool {
		client.eventuallyAsk("x")
		return c.Metric("fairway_stream_connections{") == 1
	})
	c.Eventually("an idle session ends", func() bool { return c.Metric("fairway_stream_connections_total", `outcome="idle"`) > 0 })
}

// TestAddressesOfUDP asks at several addresses of the machine, of both families. A client hears only the one that it asked.
func TestAddressesOfUDP(t *testing.T) {
	port := freeport.Take(t)
	six, four := startUDP(t, "[::1]:0", answers("six", 1)), startUDP(t, "127.0.0.1:0", answers("four", 1))
	start(t, toUDP(port, six.address(), four.address()))
	for _, address := range []string{"127.0.0.1", "127.0.0.2", "127.10.20.30", "::1"} {
		seen := map[string]bool{}
		client := dialUDP(t, address, port)
		for range 4 {
			seen[client.ask("x")] = true
		}
		if !seen["six:x"] || !seen["four:x"] {
			t.Errorf("%s was answered %v", address, seen)
		}
	}
}

// TestLargeDatagrams passes on datagrams longer than a packet, both ways.
func TestLargeDatagrams(t *testing.T) {
	port := freeport.Take(t)
	start(t, toUDP(port, startUDP(t, "127.0.0.1:0", answers("", 1)).address()))
	client := dialUDP(t, "127.0.0.1", port)
	for _, size := range []int{0, 1, 512, 1472, 1473, 4096, 9000, 65506} {
		text := strings.Repeat("x", size)
		if answer := client.ask(text); answer != ":"+text {
			t.Errorf("%d bytes came back as %d", size, len(answer)-1)
		}
	}
}

// TestPortsOfUDPFollowTheConfigMap opens, changes and closes ports, and meets with one that is somebody else's.
func TestPortsOfUDPFollowTheConfigMap(t *testing.T) {
	first, second := freeport.Take(t), freeport.Take(t)
	a, b := startUDP(t, "127.0.0.1:0", answers("a", 1)), startUDP(t, "127.0.0.1:0", answers("b", 1))
	objects := toUDP(first, a.address())
	objects.datagrams["two"] = []netip.AddrPort{b.address()}
	c := start(t, objects)
	client := dialUDP(t, "127.0.0.1", first)
	if got := client.ask("x"); got != "a:x" {
		t.Errorf("%q", got)
	}
	taken := startUDP(t, fmt.Sprintf("127.0.0.1:%d", second), answers("somebody else", 1))
	objects.udp[second] = "default/two:main"
	c.apply(objects)
	c.Eventually("a port that is taken is told of", func() bool {
		return strings.Contains(c.Get("problems"), fmt.Sprintf("UDP %d cannot be opened", second))
	})
	if got := client.ask("x"); got != "a:x" {
		t.Errorf("%q beside a port that cannot be opened", got)
	}
	taken.conn.Close()
	if got := dialUDP(t, "127.0.0.1", second).eventuallyAsk("x"); got != "b:x" {
		t.Errorf("%q", got)
	}
	objects.udp[first] = "default/two:1000"
	c.apply(objects)
	c.Eventually("the port leads to the other Service", func() bool { return client.ask("x") == "b:x" })
	delete(objects.udp, first)
	c.apply(objects)
	c.Eventually("the port is closed", func() bool {
		_, _ = client.Write([]byte("x"))
		_, err := client.hear(100 * time.Millisecond)
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	objects.udp[first] = "default/one:1000"
	c.apply(objects)
	if got := client.eventuallyAsk("x"); got != "a:x" {
		t.Errorf("%q", got)
	}
}

// TestProxyHeaderOfUDP reads the header before each datagram.
func TestProxyHeaderOfUDP(t *testing.T) {
	port := freeport.Take(t)
	objects := toUDP(port, startUDP(t, "127.0.0.1:0", answers("", 1)).address())
	objects.udp[port] += "::PROXYv2"
	start(t, objects)
	client := dialUDP(t, "127.0.0.1", port)
	from := client.LocalAddr().String()
	for range 2 {
		got := client.ask("text")
		header, text := got[1:29], got[29:]
		address := fmt.Sprintf("%d.%d.%d.%d:%d", header[16], header[17], header[18], header[19], int(header[24])<<8|int(header[25]))
		if !strings.HasPrefix(header, "\r\n\r\n\x00\r\nQUIT\n\x21\x12\x00\x0c") || text != "text" || address != from {
			t.Errorf("%q from %s, not %s", got, address, from)
		}
	}
}
