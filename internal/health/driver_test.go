// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// inner keeps the last model.
type inner struct{ last atomic.Pointer[model.Model] }

func (i *inner) Run(ctx context.Context) error { <-ctx.Done(); return nil }

func (i *inner) Apply(_ context.Context, m *model.Model) (model.Change, error) {
	i.last.Store(m)
	return model.Change{}, nil
}

func (i *inner) Restarted() <-chan struct{} { return nil }

func newCheck() *model.HealthCheck {
	return &model.HealthCheck{
		Path: "/", Statuses: []model.StatusRange{{First: 200, Last: 299}}, Interval: 20 * time.Millisecond, Timeout: time.Minute, Healthy: 1, Unhealthy: 2,
	}
}

func newBackend(name string, check *model.HealthCheck, addresses ...string) *model.Backend {
	b := &model.Backend{ID: model.BackendID{Namespace: "ns", Service: name, Port: "80"}, Health: &model.Health{Check: check}}
	for _, a := range addresses {
		b.Endpoints = append(b.Endpoints, model.NewEndpoint(netip.MustParseAddrPort(a)))
	}
	return b
}

func eventually(t *testing.T, what string, true func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !true(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never happens that %s", what)
		}
	}
}

// TestDriver follows an endpoint that two backends have: it is asked once for both, marked in both, and well again in both.
func TestDriver(t *testing.T) {
	var sick atomic.Bool
	var under, most atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n := under.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer under.Add(-1)
		if sick.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	in := &inner{}
	d := New(in, Options{AllowLocal: true})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	defer func() { stop(); <-ended }()

	address := server.Listener.Addr().String()
	check := newCheck()
	plain := &model.Model{Backends: []*model.Backend{newBackend("a", check, address), newBackend("b", check, address), {ID: model.BackendID{Service: "c"}}}}
	apply := func() *model.Model {
		if _, err := d.Apply(ctx, plain); err != nil {
			t.Fatal(err)
		}
		return in.last.Load()
	}
	if apply() != plain || len(d.probes) != 1 {
		t.Errorf("before any check the model is another, or %d probes are not one", len(d.probes))
	}
	eventually(t, "a check passes", func() bool { return d.Totals().Passed > 0 })
	sick.Store(true)
	<-d.Restarted()
	m := apply()
	for i, b := range m.Backends[:2] {
		if len(b.Unhealthy) != 1 || len(plain.Backends[i].Unhealthy) != 0 {
			t.Errorf("%s: unhealthy %v", b.ID, b.Unhealthy)
		}
	}
	if again := apply(); m.Backends[0] != again.Backends[0] || m.Backends[2] != plain.Backends[2] {
		t.Error("a backend is another though nothing changed")
	}
	if out := d.Unhealthy(); len(out) != 2 || out[0].Why != "status 503" || out[0].Since.IsZero() {
		t.Errorf("who is out: %+v", out)
	}
	sick.Store(false)
	<-d.Restarted()
	if apply() != plain {
		t.Error("all are well, and the model is another")
	}
	plain = &model.Model{}
	if apply(); len(d.probes) != 0 || len(d.queue) > 0 || len(d.backends) != 0 {
		t.Errorf("nobody asks for checks, and there are %d probes, %d of them due", len(d.probes), len(d.queue))
	}
	if most.Load() != 1 {
		t.Errorf("%d checks of one endpoint at once", most.Load())
	}
}

// TestParallel bounds what is under way while endpoints do not answer.
func TestParallel(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var accepted atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			defer conn.Close()
		}
	}()
	d := New(&inner{}, Options{AllowLocal: true, Parallel: 3})
	m := &model.Model{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		check := newCheck()
		check.Host = name
		m.Backends = append(m.Backends, newBackend(name, check, l.Addr().String()))
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	if _, err := d.Apply(ctx, m); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three are asked", func() bool { return accepted.Load() == 3 })
	time.Sleep(100 * time.Millisecond)
	if n := accepted.Load(); n != 3 {
		t.Errorf("%d checks are under way at once", n)
	}
	stop()
	<-ended
}

func TestAsk(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/far" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
	}))
	server.Config.ErrorLog = nil
	defer server.Close()
	address := netip.MustParseAddrPort(server.Listener.Addr().String())
	own := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	for name, c := range map[string]struct {
		change func(*model.HealthCheck)
		local  bool
		want   string // part of the error; empty for none
	}{
		"TLS without TLS":   {func(c *model.HealthCheck) { c.TLS = nil }, true, "status 400"},
		"unverified":        {func(*model.HealthCheck) {}, true, ""},
		"verified":          {func(c *model.HealthCheck) { c.TLS = &model.CheckTLS{Verify: true, CA: own, Name: "example.com"} }, true, ""},
		"verified, no CA":   {func(c *model.HealthCheck) { c.TLS = &model.CheckTLS{Verify: true, Name: "example.com"} }, true, "certificate"},
		"verified, no such": {func(c *model.HealthCheck) { c.TLS = &model.CheckTLS{Verify: true, CA: own, Name: "other.test"} }, true, "certificate"},
		"local":             {func(*model.HealthCheck) {}, false, "not to be reached"},
		"redirect":          {func(c *model.HealthCheck) { c.Path = "/far" }, true, "status 302"},
		"gRPC that is none": {func(c *model.HealthCheck) { c.Protocol = model.CheckGRPC }, true, "gRPC status"},
		"TCP":               {func(c *model.HealthCheck) { c.Protocol, c.TLS = model.CheckTCP, nil }, true, ""},
		"another port":      {func(c *model.HealthCheck) { c.Port = 1 }, true, "refused"},
		"too late":          {func(c *model.HealthCheck) { c.Timeout = time.Nanosecond }, true, "deadline"},
	} {
		check := newCheck()
		check.TLS, check.Timeout = &model.CheckTLS{}, 30*time.Second
		c.change(check)
		err := newAsker(check).ask(t.Context(), address, c.local)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
