// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long anything may take that does happen; silence how long nothing must be heard to believe that nothing will.
const (
	patience = 30 * time.Second
	silence  = 300 * time.Millisecond
)

// backend answers each datagram with so many, each its name and what it got.
type backend struct {
	conn    *net.UDPConn
	name    string
	answers int
	got     atomic.Int64
	sources chan netip.AddrPort // of the first datagrams
}

func startBackend(t *testing.T, name, address string, answers int) *backend {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(address)))
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{conn: conn, name: name, answers: answers, sources: make(chan netip.AddrPort, 1000)}
	done := make(chan struct{})
	go func() { defer close(done); b.serve() }()
	t.Cleanup(func() { conn.Close(); <-done })
	return b
}

func (b *backend) serve() {
	buffer := make([]byte, datagramSize)
	for {
		n, from, err := b.conn.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		b.got.Add(1)
		select {
		case b.sources <- from:
		default:
		}
		for range b.answers {
			_, _ = b.conn.WriteToUDPAddrPort(append([]byte(b.name+":"), buffer[:n]...), from)
		}
	}
}

func (b *backend) address() netip.AddrPort { return b.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// serviceOf is what tests begin with.
func serviceOf(backends ...*backend) Service {
	s := Service{Responses: -1, Timeout: time.Minute, Tries: 3, Drain: time.Minute, Limit: 1000}
	for _, b := range backends {
		s.Endpoints = append(s.Endpoints, Endpoint{AddrPort: b.address()})
	}
	return s
}

func openPort(t *testing.T, s Service, addresses ...string) *Port {
	t.Helper()
	p := New(NewMemory(), slog.New(slog.NewTextHandler(t.Output(), nil)), s)
	t.Cleanup(p.Close)
	var at []netip.AddrPort
	for _, a := range addresses {
		at = append(at, netip.MustParseAddrPort(a))
	}
	if err := p.Listen(at); err != nil {
		t.Fatal(err)
	}
	return p
}

// dialPort gives a client with an address of its own.
func dialPort(t *testing.T, to netip.AddrPort) *net.UDPConn {
	t.Helper()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func say(t *testing.T, conn *net.UDPConn, text string) {
	t.Helper()
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// hear gives the next datagram, "" if none comes within the time.
func hear(t *testing.T, conn *net.UDPConn, within time.Duration) string {
	t.Helper()
	buffer := make([]byte, datagramSize)
	_ = conn.SetReadDeadline(time.Now().Add(within))
	n, err := conn.Read(buffer)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return string(buffer[:n])
}

// ask gives the answer to a text, of which there has to be one.
func ask(t *testing.T, conn *net.UDPConn, text string) string {
	t.Helper()
	say(t, conn, text)
	answer := hear(t, conn, patience)
	if answer == "" {
		t.Fatalf("no answer to %.20q", text)
	}
	return answer
}

// await waits for the counts to be as wanted.
func await(t *testing.T, p *Port, what string, satisfied func(Counts) bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !satisfied(p.Counts()); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %+v", what, p.Counts())
		}
	}
}

func TestSessionKeepsItsEndpoint(t *testing.T) {
	p := openPort(t, serviceOf(startBackend(t, "a", "127.0.0.1:0", 1), startBackend(t, "b", "127.0.0.1:0", 1)), "127.0.0.1:0")
	seen := map[byte]int{}
	for range 10 {
		client := dialPort(t, p.Addresses()[0])
		first := ask(t, client, "1")
		seen[first[0]]++
		for range 5 {
			if got := ask(t, client, "2"); got[0] != first[0] {
				t.Errorf("a session of %s was answered by %s", first, got)
			}
		}
	}
	if seen['a'] != 5 || seen['b'] != 5 {
		t.Errorf("10 sessions went to endpoints as %v, not in turns", seen)
	}
	await(t, p, "counts", func(c Counts) bool {
		return c.Begun == 10 && c.Sessions == 10 && c.Sent == Traffic{60, 180} && c.Received == Traffic{60, 60}
	})
}

func TestTurns(t *testing.T) {
	for _, c := range []struct{ weights, want []int }{
		{nil, nil}, {[]int{0}, []int{0}}, {[]int{1, 1, 1}, []int{0, 1, 2}}, {[]int{100, 100}, []int{0, 1}}, {[]int{5, 1, 1}, []int{0, 0, 1, 0, 2, 0, 0}},
	} {
		var endpoints []Endpoint
		for _, w := range c.weights {
			endpoints = append(endpoints, Endpoint{Weight: w})
		}
		if got := turns(endpoints); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v", c.weights, got)
		}
	}
	counts := map[int]int{}
	for _, i := range turns([]Endpoint{{Weight: 1e6}, {Weight: 499_999}, {Weight: 1}}) {
		counts[i]++
	}
	if counts[2] != 1 || counts[0] < 2*counts[1] || counts[0] > 2*counts[1]+3 {
		t.Errorf("%v", counts)
	}
}

func TestResponses(t *testing.T) {
	a, b := startBackend(t, "a", "127.0.0.1:0", 2), startBackend(t, "b", "127.0.0.1:0", 2)
	service := serviceOf(a, b)
	service.Responses = 2
	p := openPort(t, service, "127.0.0.1:0")
	client := dialPort(t, p.Addresses()[0])
	for range 6 { // a session each
		first := ask(t, client, "x")
		if second := hear(t, client, patience); second != first {
			t.Errorf("first %q, then %q", first, second)
		}
		await(t, p, "session did not end", func(c Counts) bool { return c.Sessions == 0 })
	}
	if a.got.Load() != 3 || b.got.Load() != 3 {
		t.Errorf("endpoints got %d and %d", a.got.Load(), b.got.Load())
	}

	service.Responses = 3 // one never comes, so the session goes on, with its endpoint
	p.Apply(service)
	first := ask(t, client, "x")
	for range 4 {
		say(t, client, "y")
	}
	for range 1 + 4*2 {
		if got := hear(t, client, patience); got == "" || got[0] != first[0] {
			t.Errorf("%q in a session that began with %q", got, first)
		}
	}
	if c := p.Counts(); c.Sessions != 1 {
		t.Errorf("%+v", c)
	}
}

func TestNoResponses(t *testing.T) {
	a, b := startBackend(t, "a", "127.0.0.1:0", 0), startBackend(t, "b", "127.0.0.1:0", 0)
	service := serviceOf(a, b)
	service.Responses = 0
	p := openPort(t, service, "127.0.0.1:0")
	client := dialPort(t, p.Addresses()[0])
	for range 100 {
		say(t, client, "<13>event")
	}
	await(t, p, "datagrams", func(c Counts) bool { return c.Begun == 100 && c.Sessions == 0 })
	for deadline := time.Now().Add(patience); a.got.Load()+b.got.Load() < 100 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if a.got.Load() != 50 || b.got.Load() != 50 {
		t.Errorf("endpoints got %d and %d of 100 datagrams", a.got.Load(), b.got.Load())
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	service := serviceOf(startBackend(t, "a", "127.0.0.1:0", 1))
	p := openPort(t, service, "127.0.0.1:0")
	client := dialPort(t, p.Addresses()[0])
	ask(t, client, "x")
	service.Timeout = 200 * time.Millisecond // counts for those that there are, too
	p.Apply(service)
	await(t, p, "idle session goes on", func(c Counts) bool { return c.Sessions == 0 })
	ask(t, client, "y")
	await(t, p, "idle session goes on", func(c Counts) bool { return c.Sessions == 0 && c.Begun == 2 && c.Idle == 2 })
}

// TestAnswersComeFromWhereTheyWereAskedFor asks several addresses of a port that listens on all.
func TestAnswersComeFromWhereTheyWereAskedFor(t *testing.T) {
	a := startBackend(t, "a", "127.0.0.1:0", 1)
	b := startBackend(t, "b", "[::1]:0", 1)
	p := openPort(t, serviceOf(a, b), "0.0.0.0:0", "[::]:0")
	for _, ip := range []string{"127.0.0.1", "127.0.0.2", "127.1.2.3"} {
		// A connected socket hears nobody but whom it asked.
		ask(t, dialPort(t, netip.AddrPortFrom(netip.MustParseAddr(ip), p.Addresses()[0].Port())), "x")
	}
	ask(t, dialPort(t, netip.AddrPortFrom(netip.IPv6Loopback(), p.Addresses()[1].Port())), "x")

	// One socket that asks two addresses has two sessions.
	client, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4zero})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, ip := range []string{"127.0.0.4", "127.0.0.5"} {
		to := netip.AddrPortFrom(netip.MustParseAddr(ip), p.Addresses()[0].Port())
		if _, err := client.WriteToUDPAddrPort([]byte("x"), to); err != nil {
			t.Fatal(err)
		}
		_ = client.SetReadDeadline(time.Now().Add(patience))
		if _, from, err := client.ReadFromUDPAddrPort(make([]byte, 10)); err != nil || from.Addr().Unmap() != to.Addr() {
			t.Errorf("asked %s, was answered by %s, %v", to, from, err)
		}
	}
	await(t, p, "sessions", func(c Counts) bool { return c.Begun == 4+2 })
}

func TestLargeDatagrams(t *testing.T) {
	a := startBackend(t, "a", "127.0.0.1:0", 1)
	p := openPort(t, serviceOf(a), "127.0.0.1:0")
	client := dialPort(t, p.Addresses()[0])
	for _, length := range []int{0, 1, 1472, 1473, 9000, 65507 - len("a:")} {
		text := strings.Repeat("x", length)
		if got := ask(t, client, text); got != "a:"+text {
			t.Errorf("%d bytes became %d", length, len(got)-2)
		}
	}
}

func TestChangedEndpoints(t *testing.T) {
	a, b := startBackend(t, "a", "127.0.0.1:0", 1), startBackend(t, "b", "127.0.0.1:0", 1)
	service := serviceOf(a)
	p := openPort(t, service, "127.0.0.1:0")
	old := dialPort(t, p.Addresses()[0])
	ask(t, old, "x")
	service.Endpoints = serviceOf(b).Endpoints
	p.Apply(service)
	if got := ask(t, dialPort(t, p.Addresses()[0]), "x"); got != "b:x" {
		t.Errorf("a new session got %q", got)
	}
	if got := ask(t, old, "x"); got != "a:x" {
		t.Errorf("the established session got %q", got)
	}
	service.Drain = 100 * time.Millisecond
	service.Endpoints = serviceOf(a, b).Endpoints
	p.Apply(service) // it is back
	service.Endpoints = serviceOf(b).Endpoints
	p.Apply(service)
	await(t, p, "the session goes on without its endpoint", func(c Counts) bool { return c.Sessions == 1 })
	if got := ask(t, old, "x"); got != "b:x" {
		t.Errorf("after the drain time the client got %q", got)
	}
	service.Endpoints = nil
	p.Apply(service)
	say(t, dialPort(t, p.Addresses()[0]), "x")
	await(t, p, "a datagram for nobody is not counted", func(c Counts) bool { return c.Homeless == 1 && c.Lost == 1 })
}

func TestRefusedDatagramsGoElsewhere(t *testing.T) {
	a, gone := startBackend(t, "a", "127.0.0.1:0", 1), startBackend(t, "gone", "127.0.0.1:0", 1)
	p := openPort(t, serviceOf(a, gone), "127.0.0.1:0")
	var ofGone *net.UDPConn
	for range 2 {
		if client := dialPort(t, p.Addresses()[0]); strings.HasPrefix(ask(t, client, "x"), "gone") {
			ofGone = client
		}
	}
	gone.conn.Close()
	for range 10 {
		if got := ask(t, dialPort(t, p.Addresses()[0]), "y"); got != "a:y" {
			t.Errorf("a new session got %q", got)
		}
	}
	await(t, p, "nothing was retried", func(c Counts) bool { return c.Retried > 0 })
	say(t, ofGone, "lost") // its endpoint had answered before, so nothing is kept for another one
	await(t, p, "the refused session goes on", func(c Counts) bool { return c.Lost == 1 && c.Sessions == 11 })
	if got := ask(t, ofGone, "z"); got != "a:z" {
		t.Errorf("after the refusal the client got %q", got)
	}
}

func TestAllRefuse(t *testing.T) {
	a, b := startBackend(t, "a", "127.0.0.1:0", 1), startBackend(t, "b", "127.0.0.1:0", 1)
	a.conn.Close()
	b.conn.Close()
	p := openPort(t, serviceOf(a, b), "127.0.0.1:0")
	say(t, dialPort(t, p.Addresses()[0]), "x")
	await(t, p, "it is not given up", func(c Counts) bool {
		return c.Begun == 1 && c.Refusals == 2 && c.Retried == 1 && c.Lost == 1 && c.Unreachable == 1 && c.Sessions == 0
	})
}

func TestLimit(t *testing.T) {
	service := serviceOf(startBackend(t, "a", "127.0.0.1:0", 1))
	service.Limit = 3
	p := openPort(t, service, "127.0.0.1:0")
	var clients []*net.UDPConn
	for range 3 {
		clients = append(clients, dialPort(t, p.Addresses()[0]))
	}
	late := dialPort(t, p.Addresses()[0])
	for _, c := range clients {
		ask(t, c, "x")
	}
	say(t, late, "x")
	await(t, p, "neither refused nor admitted", func(c Counts) bool { return c.Refused > 0 || c.Evicted > 0 })
	if c := p.Counts(); c.Evicted > 0 {
		t.Skip("a second passed between four datagrams")
	}
	if c := p.Counts(); c.Sessions != 3 {
		t.Errorf("%+v", c)
	}
	for deadline := time.Now().Add(patience); p.Counts().Evicted == 0; { // those that say nothing have to go
		say(t, late, "y")
		hear(t, late, silence)
		if time.Now().After(deadline) {
			t.Fatalf("%+v", p.Counts())
		}
	}
	if c := p.Counts(); c.Sessions > 3 {
		t.Errorf("%+v", c)
	}
}

func TestProxyHeader(t *testing.T) {
	a, b := startBackend(t, "", "127.0.0.1:0", 1), startBackend(t, "", "[::1]:0", 1)
	for _, c := range []struct{ address, to string }{{"127.0.0.1:0", "127.0.0.1"}, {"0.0.0.0:0", "127.0.0.9"}, {"[::1]:0", "::1"}, {"[::]:0", "::1"}} {
		service := serviceOf(a, b)
		service.Proxy = true
		p := openPort(t, service, c.address)
		to := netip.AddrPortFrom(netip.MustParseAddr(c.to), p.Addresses()[0].Port())
		client := dialPort(t, to)
		want := []byte("\r\n\r\n\x00\r\nQUIT\n\x21")
		if from := client.LocalAddr().(*net.UDPAddr).AddrPort(); from.Addr().Is4() {
			want = append(want, 0x12, 0, 12)
			want = append(append(want, from.Addr().AsSlice()...), to.Addr().AsSlice()...)
		} else {
			want = append(want, 0x22, 0, 36)
			want = append(append(want, from.Addr().AsSlice()...), to.Addr().AsSlice()...)
		}
		from := client.LocalAddr().(*net.UDPAddr).AddrPort()
		want = append(want, byte(from.Port()>>8), byte(from.Port()), byte(to.Port()>>8), byte(to.Port()))
		for range 2 { // each datagram has it
			if got := ask(t, client, "x"); !bytes.Equal([]byte(got), append([]byte(":"), append(want, 'x')...)) {
				t.Errorf("%s:\n%q, not\n%q", c.address, got, want)
			}
		}
	}
}

func TestClosedPortWaitsForAnswers(t *testing.T) {
	answer := make(chan struct{})
	slow, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	got := make(chan struct{})
	go func() {
		buffer := make([]byte, 10)
		n, from, err := slow.ReadFromUDPAddrPort(buffer)
		if err == nil {
			close(got)
			<-answer
			_, _ = slow.WriteToUDPAddrPort(buffer[:n], from)
		}
	}()
	service := serviceOf()
	service.Responses = 1
	service.Endpoints = []Endpoint{{AddrPort: slow.LocalAddr().(*net.UDPAddr).AddrPort()}}
	p := openPort(t, service, "127.0.0.1:0")
	client := dialPort(t, p.Addresses()[0])
	say(t, client, "x")
	<-got
	address := p.Addresses()[0]
	if err := p.Listen(nil); err != nil {
		t.Fatal(err)
	}
	say(t, dialPort(t, address), "too late")
	await(t, p, "a session begins", func(c Counts) bool { return c.Refused == 1 })
	close(answer)
	if got := hear(t, client, patience); got != "x" {
		t.Errorf("got %q", got)
	}
	p.running.Wait() // all was answered
}

func TestPortsComeAndGo(t *testing.T) {
	service := serviceOf(startBackend(t, "a", "127.0.0.1:0", 1))
	p := openPort(t, service, "127.0.0.1:0")
	address := p.Addresses()[0].String()
	other := New(NewMemory(), p.log, service)
	defer other.Close()
	if err := other.Listen(p.Addresses()); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("a second one has the same port: %v", err)
	}
	p.Close()
	p.Close()
	p.Apply(service)
	goroutines, sockets := runtime.NumGoroutine(), openFiles(t)
	for range 20 {
		p := openPort(t, service, address)
		ask(t, dialPort(t, p.Addresses()[0]), "x")
		p.Close()
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > goroutines && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines became %d", goroutines, n)
	}
	if n := openFiles(t); n > sockets+20 { // the clients'
		t.Errorf("%d files became %d", sockets, n)
	}
}

// TestAddressesComeAndGo changes where a port listens while a session goes on.
func TestAddressesComeAndGo(t *testing.T) {
	service := serviceOf(startBackend(t, "a", "127.0.0.1:0", 1))
	p := openPort(t, service, "127.0.0.2:0")
	first := p.Addresses()[0]
	client := dialPort(t, first)
	ask(t, client, "x")
	second := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.3"), first.Port())
	for range 3 {
		if err := p.Listen([]netip.AddrPort{second}); err != nil {
			t.Fatal(err)
		}
		ask(t, client, "y")
		ask(t, dialPort(t, second), "x")
		if got := p.Addresses(); !slices.Equal(got, []netip.AddrPort{second}) {
			t.Errorf("%v", got)
		}
		if err := p.Listen([]netip.AddrPort{first, second}); err != nil {
			t.Fatal(err)
		}
		ask(t, dialPort(t, second), "x")
		for range 10 { // some of them at each socket
			ask(t, dialPort(t, first), "x")
		}
	}
	if c := p.Counts(); c.Refused != 0 || c.Lost != 0 || c.Done+c.Idle+c.Drained != 0 {
		t.Errorf("%+v", c)
	}
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestNothingIsAllocatedPerDatagram(t *testing.T) {
	for _, responses := range []int{-1, 1} {
		t.Run(fmt.Sprintf("responses %d", responses), func(t *testing.T) {
			service := serviceOf(startBackend(t, "a", "127.0.0.1:0", 1))
			service.Responses = responses
			p := openPort(t, service, "127.0.0.1:0")
			client := dialPort(t, p.Addresses()[0])
			text, buffer := []byte("x"), make([]byte, 10)
			_ = client.SetReadDeadline(time.Now().Add(patience))
			n := testing.AllocsPerRun(2000, func() {
				_, _ = client.Write(text)
				_, _ = client.Read(buffer)
			})
			if n > 1 { // that of the backend of this test
				t.Errorf("%v allocations per datagram and answer", n)
			}
		})
	}
}
