// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/test/freeport"
)

// serveRanked makes a port lead to near and far endpoints, of which some are unwell.
func (s *stage) serveRanked(transport model.Transport, port uint16, near, far netip.AddrPort, unwell ...netip.AddrPort) {
	b := &model.Backend{ID: model.BackendID{Namespace: "a", Service: "b", Port: "1", Transport: transport}, Health: &model.Health{Check: &model.HealthCheck{}}}
	b.Endpoints = []model.Endpoint{{AddrPort: near}, {AddrPort: far, Far: true}}
	slices.SortFunc(b.Endpoints, model.Endpoint.Compare)
	for _, e := range b.Endpoints {
		if slices.Contains(unwell, e.AddrPort) {
			b.Unhealthy = append(b.Unhealthy, e)
		}
	}
	s.model.Listeners = []*model.Listener{{Transport: transport, Port: port, Backend: b}}
	m := s.model
	s.Apply(&m)
}

// TestZones sends connections to an endpoint of another zone only while the near one is not well, or refuses them.
func TestZones(t *testing.T) {
	s := newStage(t)
	port := uint16(freeport.Take(t))
	address := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port).String()
	near, far, dead := endpoint(t, greet("near")), endpoint(t, greet("far")), nobody(t)
	for _, c := range []struct {
		what   string
		near   netip.AddrPort
		unwell []netip.AddrPort
		want   string
	}{
		{"all is well", near, nil, "near\n"},
		{"the near one is not well", near, []netip.AddrPort{near}, "far\n"},
		{"both are not", near, []netip.AddrPort{near, far}, ""},
		{"the far one is not", near, []netip.AddrPort{far}, "near\n"},
		{"the near one refuses", dead, nil, "far\n"},
		{"it is back", near, nil, "near\n"},
	} {
		s.serveRanked(model.TCP, port, c.near, far, c.unwell...)
		seen := map[string]int{}
		for range 6 {
			seen[attempt(address)]++
		}
		if c.want == "" && (seen["near\n"] != 3 || seen["far\n"] != 3) || c.want != "" && seen[c.want] != 6 {
			t.Errorf("%s: %v", c.what, seen)
		}
	}
}

// TestRanksOfDatagrams is the same for sessions of UDP.
func TestRanksOfDatagrams(t *testing.T) {
	s := newStage(t)
	port := uint16(freeport.Take(t))
	at := func(c *net.UDPConn) netip.AddrPort { return c.LocalAddr().(*net.UDPAddr).AddrPort() }
	near, far, gone := echoUDP(t, "near"), echoUDP(t, "far"), echoUDP(t, "gone")
	dead := at(gone)
	_ = gone.Close()
	for _, c := range []struct {
		what   string
		near   netip.AddrPort
		unwell []netip.AddrPort
		want   string
	}{
		{"all is well", at(near), nil, "near:x"},
		{"the near one is not well", at(near), []netip.AddrPort{at(near)}, "far:x"},
		{"the far one is not", at(near), []netip.AddrPort{at(far)}, "near:x"},
		{"the near one refuses", dead, nil, "far:x"},
	} {
		s.serveRanked(model.UDP, port, c.near, at(far), c.unwell...)
		for range 4 {
			says(t, udpClient(t, port), c.want)
		}
	}
}
