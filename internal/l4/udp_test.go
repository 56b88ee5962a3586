// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/test/freeport"
)

// echoUDP is an endpoint that puts its name before what it gets.
func echoUDP(t *testing.T, name string) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			_, _ = conn.WriteToUDPAddrPort(append([]byte(name+":"), buffer[:n]...), from)
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-ended })
	return conn
}

// serveUDP makes a port lead to the endpoints, and tells where it is.
func (s *stage) serveUDP(port uint16, endpoints ...*net.UDPConn) {
	backend := &model.Backend{ID: model.BackendID{Namespace: "a", Service: "b", Port: "1", Transport: model.UDP}}
	for _, e := range endpoints {
		backend.Endpoints = append(backend.Endpoints, model.NewEndpoint(e.LocalAddr().(*net.UDPAddr).AddrPort()))
	}
	s.model.Listeners = []*model.Listener{{Transport: model.UDP, Port: port, Backend: backend}}
	m := s.model
	s.Apply(&m)
}

func udpClient(t *testing.T, port uint16) *net.UDPConn {
	t.Helper()
	conn, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func exchange(conn *net.UDPConn, text string) (string, error) {
	if _, err := conn.Write([]byte(text)); err != nil {
		return "", err
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	buffer := make([]byte, 1500)
	n, err := conn.Read(buffer)
	return string(buffer[:n]), err
}

// says checks the answer to a datagram.
func says(t *testing.T, conn *net.UDPConn, want string) {
	t.Helper()
	_, text, _ := strings.Cut(want, ":")
	if got, err := exchange(conn, text); err != nil || got != want {
		t.Errorf("%q, %v, not %q", got, err, want)
	}
}

func (s *stage) awaitTraffic(what string, satisfied func(model.StreamTraffic) bool) {
	s.t.Helper()
	var list []model.StreamTraffic
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if list = s.Traffic(); len(list) == 1 && satisfied(list[0]) {
			return
		}
	}
	s.t.Errorf("%s: %+v", what, list)
}

// TestResponses follows sessions of UDP from endpoint to endpoint, by the number of answers that are due.
func TestResponses(t *testing.T) {
	s := newStage(t)
	a, b := echoUDP(t, "a"), echoUDP(t, "b")
	port := uint16(freeport.Take(t))
	s.serveUDP(port, a, b)
	client := udpClient(t, port)
	got := map[string]int{}
	for range 10 {
		answer, err := exchange(client, "x")
		if err != nil {
			t.Fatal(err)
		}
		got[answer]++
	}
	if got["a:x"] != 5 || got["b:x"] != 5 {
		t.Errorf("answers of %v: not each datagram was a session", got)
	}
	s.awaitTraffic("sessions", func(c model.StreamTraffic) bool {
		return c.Open == 0 && c.Ended[model.StreamDone] == 10 && c.Datagrams == model.Datagrams{Received: 10, Sent: 10} && c.Received == 10 && c.Sent == 30
	})
	s.model.Settings.StreamProxy.Responses = -1
	s.serveUDP(port, a, b)
	first, err := exchange(client, "x")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		says(t, client, first)
	}
	s.awaitTraffic("sessions", func(c model.StreamTraffic) bool { return c.Open == 1 })
}

// TestUDPFollowsTheModel opens and closes a port, moves it, and changes what is behind it.
func TestUDPFollowsTheModel(t *testing.T) {
	s := newStage(t)
	a, b := echoUDP(t, "a"), echoUDP(t, "b")
	s.model.Settings.StreamProxy.Responses = -1
	port := uint16(freeport.Take(t))
	s.serveUDP(port, a)
	client := udpClient(t, port)
	says(t, client, "a:x")
	s.serveUDP(port, b)
	says(t, client, "a:established")
	says(t, udpClient(t, port), "b:new")
	s.model.Settings.WorkerShutdownTimeout = 100 * time.Millisecond
	s.serveUDP(port, b)
	s.awaitTraffic("the endpoint has left", func(c model.StreamTraffic) bool { return c.Ended[model.StreamDrained] == 1 })
	says(t, client, "b:again")
	s.model.Settings.WorkerShutdownTimeout = time.Minute

	for range 3 { // gone and there again
		s.model.Listeners = nil
		m := s.model
		s.Apply(&m)
		s.serveUDP(port, b)
		says(t, client, "b:reopened")
		says(t, udpClient(t, port), "b:new")
	}
	s.model.Settings.Listen.IPv4 = []netip.Addr{netip.MustParseAddr("127.0.0.2")}
	s.model.Settings.Listen.NoIPv6 = true
	s.serveUDP(port, b)
	moved, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2), Port: int(port)})
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	says(t, moved, "b:moved")
	says(t, client, "b:established")
}

// TestUDPPortThatIsTaken is a Problem of the one entry, until whoever has the port lets it go.
func TestUDPPortThatIsTaken(t *testing.T) {
	s := newStage(t)
	port := uint16(freeport.Take(t))
	taken, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s.serveUDP(port, echoUDP(t, "a"))
	got := fmt.Sprint(s.Notices())
	if !strings.Contains(got, fmt.Sprintf("UDP %d cannot be opened", port)) || !strings.Contains(got, "address already in use") {
		t.Errorf("%s", got)
	}
	_ = taken.Close()
	for deadline := time.Now().Add(patience); len(s.Notices()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(s.Notices())
		}
	}
	says(t, udpClient(t, port), "a:x")
}
