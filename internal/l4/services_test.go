// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/test/freeport"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// stage is Services that run, and the model that they have.
type stage struct {
	*Services
	t     *testing.T
	model model.Model
	stop  func()
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, Services: NewServices(ServicesOptions{Address: "127.0.0.1"}), model: model.Model{Settings: model.DefaultSettings()}}
	s.model.Settings.Client.Trusted = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx) }()
	s.stop = func() { cancel(); <-ended }
	t.Cleanup(s.stop)
	return s
}

// serve makes a port lead to the endpoints and gives its address.
func (s *stage) serve(port uint16, endpoints ...netip.AddrPort) string {
	if port == 0 {
		port = uint16(freeport.Take(s.t))
	}
	backend := &model.Backend{ID: model.BackendID{Namespace: "a", Service: "b", Port: "1", Transport: model.TCP}}
	for _, e := range endpoints {
		backend.Endpoints = append(backend.Endpoints, model.NewEndpoint(e))
	}
	s.model.Listeners = []*model.Listener{{Transport: model.TCP, Port: port, Backend: backend}}
	m := s.model
	s.Apply(&m)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// endpoint is a server that handles each connection as it is told.
func endpoint(t *testing.T, handle func(*net.TCPConn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go accept(l, slog.New(slog.DiscardHandler), func(c *net.TCPConn) {
		go func() { defer c.Close(); handle(c) }()
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// echo says back what it is told, then that this was all.
func echo(c *net.TCPConn) { _, _ = io.Copy(c, c) }

// greet says a word and what it is told, until the client leaves.
func greet(word string) func(*net.TCPConn) {
	return func(c *net.TCPConn) {
		_, _ = io.WriteString(c, word+"\n")
		echo(c)
	}
}

// nobody is an address that is taken, but where nobody listens.
func nobody(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(at.(*unix.SockaddrInet4).Port))
}

func connect(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

// attempt gives what is said to a connection, "" when it is refused or broken off, which may be before it is there.
func attempt(address string) string {
	c, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return ""
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	line, _ := greeting(c)
	return line
}

func greeting(c net.Conn) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(c, 100)).ReadString('\n')
	return line, err
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestBytesBothWaysAtOnce(t *testing.T) {
	s := newStage(t)
	c := connect(t, s.serve(0, endpoint(t, echo)))
	sent := make([]byte, 8<<20)
	_, _ = rand.Read(sent)
	go func() {
		_, _ = c.Write(sent)
		_ = c.CloseWrite() // the answer comes all the same
	}()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d of %d bytes came back: %v", len(got), len(sent), err)
	}
	eventually(t, "the connection is counted", func() bool { return s.Traffic()[0].Ended[model.StreamDone] == 1 })
	if traffic := s.Traffic()[0]; traffic.Sent != uint64(len(sent)) || traffic.Received != uint64(len(sent)) || traffic.Open != 0 {
		t.Errorf("counted %+v", traffic)
	}
	s.pipes.mu.Lock()
	defer s.pipes.mu.Unlock()
	if len(s.pipes.spare) == 0 {
		t.Error("no pipe was used")
	}
}

// TestWithoutPipes is the way of bytes when there is no pipe to be had.
func TestWithoutPipes(t *testing.T) {
	s := newStage(t)
	c := connect(t, s.serve(0, endpoint(t, echo)))
	buffer := *buffers.Get().(*[]byte)
	if len(buffer) == 0 {
		t.Fatal("an empty buffer")
	}
	f := &flow{buffer: buffer, pipes: &s.pipes, meter: &meter{}}
	own, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	f.from, f.to = own, own
	_, _ = io.WriteString(c, "hello")
	if err := f.from.Read(f.fill); err != nil || f.left != 5 {
		t.Fatalf("%d bytes, %v, %v", f.left, err, f.err)
	}
	for f.left > 0 {
		if err := f.to.Write(f.empty); err != nil || f.err != nil {
			t.Fatal(err, f.err)
		}
	}
	again := make([]byte, 5)
	if _, err := io.ReadFull(c, again); err != nil || string(again) != "hello" {
		t.Fatalf("%q, %v", again, err)
	}
	f.release()
	if b := *buffers.Get().(*[]byte); len(b) == 0 {
		t.Error("an empty buffer was given back")
	}
}

func TestHalfClose(t *testing.T) {
	s := newStage(t)
	said := make(chan string, 1)
	c := connect(t, s.serve(0, endpoint(t, func(c *net.TCPConn) {
		_, _ = io.WriteString(c, "first\n")
		_ = c.CloseWrite() // and still listens
		all, _ := io.ReadAll(c)
		said <- string(all)
	})))
	if all, err := io.ReadAll(c); err != nil || string(all) != "first\n" {
		t.Fatalf("%q, %v", all, err)
	}
	_, _ = io.WriteString(c, "last words")
	_ = c.CloseWrite()
	if got := <-said; got != "last words" {
		t.Errorf("the endpoint got %q", got)
	}
}

// TestReset passes on that a connection was broken off.
func TestReset(t *testing.T) {
	s := newStage(t)
	c := connect(t, s.serve(0, endpoint(t, func(c *net.TCPConn) {
		_, _ = greeting(c)
		abort(c)
	})))
	_, _ = io.WriteString(c, "go\n")
	if _, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v", err)
	}
	eventually(t, "the reset is counted", func() bool { return s.Traffic()[0].Ended[model.StreamReset] == 1 })
}

func TestIdleConnectionsEnd(t *testing.T) {
	s := newStage(t)
	s.model.Settings.StreamProxy.Timeout = 100 * time.Millisecond
	behind := make(chan error, 1)
	c := connect(t, s.serve(0, endpoint(t, func(c *net.TCPConn) {
		_, err := io.Copy(io.Discard, c)
		behind <- err
	})))
	_, err := io.Copy(io.Discard, c)
	for side, err := range map[string]error{"client": err, "endpoint": <-behind} {
		if err != nil {
			t.Errorf("for the %s the connection did not end as one that has said all: %v", side, err)
		}
	}
	eventually(t, "it is counted", func() bool { return s.Traffic()[0].Ended[model.StreamIdle] == 1 })
}

// TestIdleFor counts from when something was moved last.
func TestIdleFor(t *testing.T) {
	c, begin := &connection{}, time.Now()
	for _, step := range []struct {
		after time.Duration
		moves int
		want  time.Duration
	}{{0, 0, 0}, {5, 0, 5}, {7, 1, 0}, {8, 0, 1}, {20, 0, 13}, {21, 3, 0}} {
		c.toClient.own.Add(uint64(step.moves))
		if got := c.idleFor(begin.Add(step.after)); got != step.want {
			t.Errorf("after %d idle for %d, want %d", step.after, got, step.want)
		}
	}
}

func TestAnotherEndpointIsTried(t *testing.T) {
	s := newStage(t)
	dead, good := nobody(t), endpoint(t, greet("good"))
	address := s.serve(0, dead, good)
	for range 10 {
		if line, err := greeting(connect(t, address)); line != "good\n" {
			t.Fatalf("%q, %v", line, err)
		}
	}
	if n := s.Traffic()[0].Failures; n < 1 || n > 2 { // two if the machine slept
		t.Errorf("%d of 10 connections tried the dead endpoint, which is asked last after one", n)
	}
	s.model.Settings.StreamProxy.Retry = false
	if line := attempt(s.serve(0, dead)); line != "" {
		t.Errorf("a dead endpoint says %q", line)
	}
	eventually(t, "it is counted", func() bool { return s.Traffic()[0].Ended[model.StreamUnreachable] == 1 })
	if line := attempt(s.serve(0)); line != "" {
		t.Errorf("no endpoint says %q", line)
	}
	eventually(t, "it is counted", func() bool { return s.Traffic()[0].Ended[model.StreamNoEndpoint] == 1 })
}

// TestTries bounds how many endpoints are asked.
func TestTries(t *testing.T) {
	s := newStage(t)
	s.model.Settings.StreamProxy.Tries = 2
	attempt(s.serve(0, nobody(t), nobody(t), nobody(t), nobody(t)))
	eventually(t, "it is counted", func() bool { return s.Traffic()[0].Ended[model.StreamUnreachable] == 1 })
	if n := s.Traffic()[0].Failures; n != 2 {
		t.Errorf("%d endpoints were asked", n)
	}
	s.model.Settings.StreamProxy.RetryWithin = time.Nanosecond
	attempt(s.serve(0, nobody(t), nobody(t)))
	eventually(t, "it is counted", func() bool { return s.Traffic()[0].Ended[model.StreamUnreachable] == 1 })
	if n := s.Traffic()[0].Failures; n != 1 {
		t.Errorf("%d endpoints were asked although the time was over", n)
	}
}

func TestEstablishedConnectionsOutliveTheirEndpoint(t *testing.T) {
	s := newStage(t)
	s.model.Settings.WorkerShutdownTimeout = time.Hour
	old, young := endpoint(t, greet("old")), endpoint(t, greet("young"))
	address := s.serve(0, old)
	c := connect(t, address)
	if line, _ := greeting(c); line != "old\n" {
		t.Fatal(line)
	}
	port := s.model.Listeners[0].Port
	s.serve(port, young)
	if line, _ := greeting(connect(t, address)); line != "young\n" {
		t.Errorf("a new connection leads to %q", line)
	}
	_, _ = io.WriteString(c, "still there?\n")
	if line, err := greeting(c); line != "still there?\n" {
		t.Errorf("%q, %v", line, err)
	}
	s.model.Settings.WorkerShutdownTimeout = time.Millisecond
	s.serve(port, young)
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Error(err)
	}
	eventually(t, "it is counted", func() bool { return s.Traffic()[0].Ended[model.StreamDrained] == 1 })
}

func TestPortsOpenAndClose(t *testing.T) {
	s := newStage(t)
	s.model.Settings.WorkerShutdownTimeout = time.Hour
	address := s.serve(0, endpoint(t, greet("hello")))
	c := connect(t, address)
	_, _ = greeting(c)
	closed := s.model
	closed.Listeners = nil
	s.Apply(&closed)
	if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the port is still open: %v", err)
	}
	_, _ = io.WriteString(c, "still there?\n")
	if line, err := greeting(c); line != "still there?\n" {
		t.Errorf("%q, %v", line, err)
	}
	again := s.model
	s.Apply(&again)
	if line, err := greeting(connect(t, address)); line != "hello\n" {
		t.Errorf("%q, %v", line, err)
	}
	s.Apply(&closed)
	closed.Settings.WorkerShutdownTimeout = time.Millisecond
	s.Apply(&closed)
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Error(err)
	}
}

// TestTakenPort has a port that somebody else has, until he goes.
func TestTakenPort(t *testing.T) {
	s := newStage(t)
	port := freeport.Take(t)
	taken, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := s.serve(uint16(port), endpoint(t, greet("hello")))
	notices := s.Notices()
	if len(notices) != 1 || notices[0].Reason != model.ReasonPortUnavailable {
		t.Fatalf("notices %v", notices)
	}
	taken.Close()
	select {
	case <-s.Restarted():
	case <-time.After(patience):
		t.Fatal("the port is not opened")
	}
	if notices := s.Notices(); len(notices) != 0 {
		t.Errorf("notices %v", notices)
	}
	if line, err := greeting(connect(t, address)); line != "hello\n" {
		t.Errorf("%q, %v", line, err)
	}
}

func TestMaxConnections(t *testing.T) {
	s := newStage(t)
	s.model.Settings.StreamProxy.MaxConnections = 2
	address := s.serve(0, endpoint(t, greet("hello")))
	first, second := connect(t, address), connect(t, address)
	for _, c := range []net.Conn{first, second} {
		if line, err := greeting(c); line != "hello\n" {
			t.Fatalf("%q, %v", line, err)
		}
	}
	if line := attempt(address); line != "" {
		t.Errorf("a third connection gets %q", line)
	}
	first.Close()
	eventually(t, "there is room again", func() bool { return s.Traffic()[0].Open == 1 })
	if line, err := greeting(connect(t, address)); line != "hello\n" {
		t.Errorf("%q, %v", line, err)
	}
	if n := s.Traffic()[0].Ended[model.StreamRefused]; n != 1 {
		t.Errorf("%d connections are counted as refused", n)
	}
}

// TestStop ends connections that have had their time, and waits for those that end by themselves.
func TestStop(t *testing.T) {
	s := newStage(t)
	s.model.Settings.WorkerShutdownTimeout = time.Hour
	c := connect(t, s.serve(0, endpoint(t, greet("hello"))))
	_, _ = greeting(c)
	stopped := make(chan struct{})
	go func() { defer close(stopped); s.stop() }()
	_, _ = io.WriteString(c, "still there?\n")
	if line, err := greeting(c); line != "still there?\n" {
		t.Errorf("%q, %v", line, err)
	}
	select {
	case <-stopped:
		t.Error("it has stopped before the connection")
	default:
	}
	c.Close()
	select {
	case <-stopped:
	case <-time.After(patience):
		t.Error("it does not stop")
	}

	s = newStage(t)
	s.model.Settings.WorkerShutdownTimeout = time.Millisecond
	c = connect(t, s.serve(0, endpoint(t, greet("hello"))))
	_, _ = greeting(c)
	s.stop()
	if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
}

// TestBalancers counts where connections go: in turn exactly, and to the endpoint with the fewest, each by weight.
func TestBalancers(t *testing.T) {
	for _, weights := range [][]int{{1, 1, 1}, {1, 2, 3}, {5, 1, 1}} {
		var list []*target
		sum := 0
		for _, w := range weights {
			list = append(list, &target{weight: w})
			sum += w
		}
		counts := make([]int, len(list))
		for b, n := newBalancer(false), 0; n < 100*sum; n++ {
			counts[b.choose(list)]++
		}
		for i, w := range weights {
			if counts[i] != 100*w {
				t.Errorf("in turn with weights %v: %v", weights, counts)
			}
		}
		list[1].active = 50 * weights[1]
		for b, n := newBalancer(true), 0; n < 100*sum-50*weights[1]; n++ {
			list[b.choose(list)].active++
		}
		for i, w := range weights {
			if list[i].active != 100*w {
				t.Errorf("fewest with weights %v: %d connections for weight %d", weights, list[i].active, w)
			}
		}
	}
}

// TestEndpointChangesUnderLoad makes connections all the time while endpoints come and go: each connection works.
func TestEndpointChangesUnderLoad(t *testing.T) {
	s := newStage(t)
	var all []netip.AddrPort
	for i := range 4 {
		all = append(all, endpoint(t, greet(fmt.Sprint(i))))
	}
	address := s.serve(0, all[0])
	port := s.model.Listeners[0].Port
	var clients sync.WaitGroup
	stop := make(chan struct{})
	made, failed := 0, 0
	var mu sync.Mutex
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				c, err := net.DialTimeout("tcp", address, patience)
				if err == nil {
					_ = c.SetDeadline(time.Now().Add(patience))
					_, err = greeting(c)
					c.Close()
				}
				mu.Lock()
				made++
				if err != nil {
					failed++
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	for i := range 1000 {
		s.serve(port, all[i%4], all[(i+1)%4])
		if i%10 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	close(stop)
	clients.Wait()
	t.Logf("%d connections, %d failed", made, failed)
	if made == 0 {
		t.Error("no connection was made")
	}
}

// poor is a listener without files for new connections, a few times.
type poor struct {
	net.Listener
	times int
}

func (p *poor) Accept() (net.Conn, error) {
	if p.times--; p.times >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return p.Listener.Accept()
}

// TestTooManyOpenFiles goes on when there are files again.
func TestTooManyOpenFiles(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	taken, ended := make(chan *net.TCPConn, 1), make(chan struct{})
	go func() {
		defer close(ended)
		accept(&poor{l, 3}, slog.New(slog.NewTextHandler(&log, nil)), func(c *net.TCPConn) { taken <- c })
	}()
	connect(t, l.Addr().String())
	select {
	case c := <-taken:
		c.Close()
	case <-time.After(patience):
		t.Fatal("the connection is never taken")
	}
	l.Close()
	<-ended
	if n := bytes.Count(log.Bytes(), []byte("cannot be accepted")); n != 1 {
		t.Errorf("it is said %d times", n)
	}
}

// TestPlaces says where to listen, as nginx does for HTTP.
func TestPlaces(t *testing.T) {
	four, six := []netip.Addr{netip.MustParseAddr("192.0.2.1")}, []netip.Addr{netip.MustParseAddr("2001:db8::1")}
	for _, test := range []struct {
		flag   string
		listen model.Listen
		want   []place
	}{
		{"", model.Listen{}, []place{{"", ""}}},
		{"", model.Listen{NoIPv6: true}, []place{{"4", ""}}},
		{"127.0.0.1", model.Listen{}, []place{{"4", "127.0.0.1"}}},
		{"::1", model.Listen{}, []place{{"6", "::1"}}},
		{"", model.Listen{IPv4: four}, []place{{"4", "192.0.2.1"}, {"6", ""}}},
		{"", model.Listen{IPv4: four, IPv6: six}, []place{{"4", "192.0.2.1"}, {"6", "2001:db8::1"}}},
		{"", model.Listen{IPv6: six}, []place{{"4", ""}, {"6", "2001:db8::1"}}},
		{"127.0.0.1", model.Listen{IPv4: four}, []place{{"4", "192.0.2.1"}}},
		{"", model.Listen{IPv4: four, NoIPv6: true}, []place{{"4", "192.0.2.1"}}},
	} {
		if got := places(test.flag, test.listen); !slices.Equal(got, test.want) {
			t.Errorf("%q %+v: %v, want %v", test.flag, test.listen, got, test.want)
		}
	}
}
