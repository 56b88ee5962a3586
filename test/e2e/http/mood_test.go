// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthserver "google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/fairway-ingress/fairway/test/freeport"
)

// moods are backends that behave as they are told: m1, m2 and m3 over HTTP, each with an IP address of its own, and g1 and g2 over gRPC, with the addresses of m1
// and m2 and one port. Each is like any other until it gets a mood:
//
//	fine        answers
//	500, 404 …  answers everything with that status
//	sick        answers /healthz with 503
//	lazy        answers /healthz after half a second
//	only:HOST   answers /healthz for other hosts with 503
//	hangup      takes connections and closes them
//	gone        refuses connections
//	unready     gRPC: says of itself that it is not serving, and of its service "shop" that it does; "shop" says it the other way round
//	failing     gRPC: answers calls with UNAVAILABLE
var moods map[string]*moody

// startMoods starts them once and adds their addresses.
func startMoods(addresses map[string]netip.AddrPort) error {
	if moods == nil {
		moods = map[string]*moody{}
		for _, name := range []string{"m1", "m2", "m3"} {
			if err := startMoodsAt(name); err != nil {
				return err
			}
		}
		if err := startMoodsAt("g1", "g2"); err != nil {
			return err
		}
	}
	for name, m := range moods {
		addresses[name] = m.address
	}
	return nil
}

// startMoodsAt starts some on one port, which is theirs also while they are gone.
func startMoodsAt(names ...string) error {
	port, _, err := freeport.Reserve()
	if err != nil {
		return err
	}
	for _, name := range names {
		m := &moody{name: name, address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 10 + name[1] - '0'}), uint16(port))}
		moods[name] = m
		if err := m.start(); err != nil {
			return err
		}
	}
	return nil
}

func resetMoods(t *testing.T) {
	for _, m := range moods {
		m.set(t, "fine")
	}
}

// moody is one of them.
type moody struct {
	name    string
	address netip.AddrPort
	grpc    *healthserver.Server

	mu       sync.Mutex // guards below
	mood     string
	listener net.Listener
	server   *http.Server
	asked    int // requests for /healthz
}

func (m *moody) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, err := net.Listen("tcp", m.address.String())
	if err != nil {
		return err
	}
	m.listener, m.mood = l, "fine"
	m.address = netip.MustParseAddrPort(l.Addr().String())
	if m.name[0] == 'g' {
		m.grpc = healthserver.NewServer()
		s := grpc.NewServer(grpc.UnaryInterceptor(m.call))
		healthpb.RegisterHealthServer(s, m.grpc)
		go func() { _ = s.Serve(l) }()
		return nil
	}
	s := &http.Server{Handler: m}
	m.server = s
	go func() { _ = s.Serve(moodyListener{l, m}) }()
	return nil
}

// close ends the connections too.
func (m *moody) close() {
	_ = m.listener.Close()
	if m.server != nil {
		_ = m.server.Close()
	}
}

// set changes the mood.
func (m *moody) set(t testing.TB, mood string) {
	t.Helper()
	m.mu.Lock()
	before := m.mood
	m.mood = mood
	m.mu.Unlock()
	switch {
	case mood == "gone" && before != "gone":
		m.close()
	case mood != "gone" && before == "gone":
		if err := m.start(); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		m.set(t, mood)
	}
	if m.grpc != nil {
		itself, shop := healthpb.HealthCheckResponse_SERVING, healthpb.HealthCheckResponse_SERVING
		switch mood {
		case "unready":
			itself = healthpb.HealthCheckResponse_NOT_SERVING
		case "shop":
			shop = healthpb.HealthCheckResponse_NOT_SERVING
		}
		m.grpc.SetServingStatus("", itself)
		m.grpc.SetServingStatus("shop", shop)
	}
}

func (m *moody) now() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mood
}

// checks gives how many requests for /healthz there were.
func (m *moody) checks() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mood := m.now()
	if r.URL.Path == "/healthz" {
		m.mu.Lock()
		m.asked++
		m.mu.Unlock()
		host, restricted := strings.CutPrefix(mood, "only:")
		switch {
		case mood == "sick", restricted && r.Host != host:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case mood == "lazy":
			time.Sleep(500 * time.Millisecond)
		}
	}
	switch code, err := strconv.Atoi(mood); {
	case err == nil:
		w.WriteHeader(code)
	case mood == "hangup":
		panic(http.ErrAbortHandler)
	default:
		serveEcho(m.name)(w, r)
	}
}

// call answers gRPC.
func (m *moody) call(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if m.now() == "failing" {
		return nil, status.Error(codes.Unavailable, "failing")
	}
	return handler(ctx, request)
}

// moodyListener closes connections when its server wants to hang up.
type moodyListener struct {
	net.Listener
	*moody
}

func (l moodyListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || l.now() != "hangup" {
			return conn, err
		}
		_ = conn.Close()
	}
}
