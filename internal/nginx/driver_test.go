// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/test/freeport"
	"github.com/fairway-ingress/fairway/test/testlog"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// harness is a driver with a running nginx.
type harness struct {
	t             *testing.T
	driver        *Driver
	options       Options
	access, error *testlog.Log
	stop          context.CancelFunc
	stopped       chan struct{}
}

func start(t *testing.T, m *model.Model) *harness {
	t.Helper()
	if testing.Short() {
		t.Skip("drives a real nginx")
	}
	if _, err := findBinary(""); err != nil {
		t.Skip(err)
	}
	h := &harness{t: t, access: &testlog.Log{}, error: &testlog.Log{}}
	dir, err := os.MkdirTemp("/tmp", ownPrefix)
	if err != nil {
		t.Fatal(err)
	}
	// Workers of another user have to pass through the folder.
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	h.options = Options{
		RuntimeDir: dir, Address: "127.0.0.1", HTTPPort: freeport.Take(t), HTTPSPort: freeport.Take(t),
		AccessLog: h.access, ErrorLog: h.error, Log: slog.New(slog.NewTextHandler(h.error, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	h.run()
	h.apply(m)
	t.Cleanup(func() {
		h.end()
		os.RemoveAll(dir)
		if t.Failed() {
			t.Logf("nginx and driver said:\n%s", h.error)
		}
	})
	return h
}

func (h *harness) run() {
	h.t.Helper()
	driver, err := New(h.options)
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.driver, h.stop, h.stopped = driver, cancel, make(chan struct{})
	go func() {
		defer close(h.stopped)
		if err := driver.Run(ctx); err != nil {
			h.t.Error(err)
		}
	}()
}

func (h *harness) end() {
	h.stop()
	<-h.stopped
}

func (h *harness) apply(m *model.Model) model.Change {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	change, err := h.driver.Apply(ctx, m)
	if err != nil {
		h.t.Fatalf("apply: %v\n%s", err, h.error)
	}
	return change
}

// get asks for http://host/path over a new connection and gives status and body.
func (h *harness) get(host, path string) (int, string) {
	h.t.Helper()
	status, body, err := h.try(host, path)
	if err != nil {
		h.t.Fatal(err)
	}
	return status, body
}

func (h *harness) try(host, path string) (int, string, error) {
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", h.options.HTTPPort, path), nil)
	if err != nil {
		return 0, "", err
	}
	request.Host = host
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// backend starts a server that answers with its name and the path it saw.
func backend(t *testing.T, name string) model.Endpoint {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s", name, r.Host, r.URL.RequestURI())
	}))
	t.Cleanup(s.Close)
	return model.NewEndpoint(netip.MustParseAddrPort(s.Listener.Addr().String()))
}

// newModel gives a model with one backend "ns/svc/80" on host a.example.
func newModel(endpoints ...model.Endpoint) *model.Model {
	settings := model.DefaultSettings()
	settings.Workers = 2
	settings.WorkerShutdownTimeout = 2 * time.Second
	id := model.BackendID{Namespace: "ns", Service: "svc", Port: "80"}
	route := &model.Route{Owner: model.Ref{Kind: "Ingress", Namespace: "ns", Name: "web"}, Path: "/", Backend: id, Policy: settings.Route}
	route.Policy.HTTPSRedirect = false
	return &model.Model{
		Settings: settings,
		Hosts: []*model.Host{
			{Name: model.CatchAll},
			{Name: "a.example", Matches: []model.Match{{Kind: model.Prefix, Path: "/", Route: route}}},
		},
		Backends: []*model.Backend{{ID: id, Endpoints: endpoints}},
	}
}

func TestApplyIsSeenByTheNextRequest(t *testing.T) {
	one, two := backend(t, "one"), backend(t, "two")
	h := start(t, newModel(one))
	if status, body := h.get("a.example", "/x?y=1"); status != 200 || body != "one a.example /x?y=1" {
		t.Fatalf("got %d %q", status, body)
	}
	if status, _ := h.get("b.example", "/"); status != 404 {
		t.Fatalf("unknown host: got %d", status)
	}
	for i := range 50 {
		want, endpoint := "one", one
		if i%2 == 0 {
			want, endpoint = "two", two
		}
		if change := h.apply(newModel(endpoint)); change.Reload || change.Set != 1 {
			t.Fatalf("change %+v", change)
		}
		if _, body := h.get("a.example", "/"); !strings.HasPrefix(body, want) {
			t.Fatalf("round %d: got %q, want %s", i, body, want)
		}
	}
	if change := h.apply(newModel(one)); change.Set != 0 || change.Reload {
		t.Fatalf("same model again: %+v", change)
	}
}

func TestNewShapeReloadsOnce(t *testing.T) {
	h := start(t, newModel(backend(t, "one")))
	m := newModel(backend(t, "two"))
	m.Hosts[1].Matches[0].Route.Policy.Host = "other.example"
	if change := h.apply(m); !change.Reload || len(change.Reasons) != 1 || change.Reasons[0] != ReasonShape {
		t.Fatalf("change %+v", change)
	}
	if _, body := h.get("a.example", "/"); body != "two other.example /" {
		t.Fatalf("got %q", body)
	}
	h.apply(newModel(backend(t, "three")))
	if change := h.apply(m); change.Reload {
		t.Fatalf("a shape that is there already: %+v", change)
	}
}

func TestMasterKilled(t *testing.T) {
	h := start(t, newModel(backend(t, "one")))
	h.apply(newModel(backend(t, "two")))
	pid := h.driver.proc.PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if status, body, err := h.try("a.example", "/"); err == nil && status == 200 && h.running() != pid && h.running() != 0 {
			if !strings.HasPrefix(body, "two") {
				t.Fatalf("state was lost: %q", body)
			}
			h.apply(newModel(backend(t, "three")))
			if _, body := h.get("a.example", "/"); !strings.HasPrefix(body, "three") {
				t.Fatalf("push after the crash: %q", body)
			}
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("nginx did not come back")
}

func (h *harness) running() int {
	h.driver.mu.Lock()
	defer h.driver.mu.Unlock()
	if h.driver.proc == nil {
		return 0
	}
	return h.driver.proc.PID
}

func TestControllerKilled(t *testing.T) {
	h := start(t, newModel(backend(t, "one")))
	h.apply(newModel(backend(t, "two")))
	pid := h.running()
	// The first driver is abandoned as a killed controller would be: its Run never stops nginx.
	second := *h
	second.run()
	second.apply(newModel(backend(t, "three")))
	if got := second.running(); got != pid {
		t.Fatalf("nginx %d was not adopted, but replaced by %d", pid, got)
	}
	if _, body := second.get("a.example", "/"); !strings.HasPrefix(body, "three") {
		t.Fatalf("got %q", body)
	}
	second.end()
}

// A first configuration that nginx refuses must not be the last.
func TestRefusedStartIsMended(t *testing.T) {
	h := start(t, newModel(backend(t, "one")))
	h.end()
	h.run()
	bad := newModel(backend(t, "one"))
	bad.Settings.TLSProtocols = "nonsense"
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := h.driver.Apply(ctx, bad); err == nil || ctx.Err() != nil {
		t.Fatalf("nonsense was accepted: %v", err)
	}
	good := newModel(backend(t, "two"))
	for {
		_, err := h.driver.Apply(ctx, good)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("never mended: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, body := h.get("a.example", "/"); !strings.HasPrefix(body, "two") {
		t.Fatalf("got %q", body)
	}
}

func TestSelfSignedCertificate(t *testing.T) {
	h := start(t, newModel(backend(t, "one")))
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", h.options.HTTPSPort), &tls.Config{ServerName: "a.example", InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	state := conn.ConnectionState()
	if name := state.PeerCertificates[0].Subject.CommonName; !strings.Contains(name, "Fake Certificate") {
		t.Fatalf("certificate of %q", name)
	}
	if state.NegotiatedProtocol != "h2" {
		t.Fatalf("protocol %q", state.NegotiatedProtocol)
	}
}

func TestZoneGrows(t *testing.T) {
	h := start(t, newModel(backend(t, "one")))
	m := newModel(backend(t, "two"))
	filler := strings.Repeat("x", 60000)
	for i := range 1500 {
		id := model.BackendID{Namespace: "ns", Service: fmt.Sprintf("%s%06d", filler, i), Port: "80"}
		m.Backends = append(m.Backends, &model.Backend{ID: id})
	}
	change := h.apply(m)
	if !change.Reload || !strings.Contains(strings.Join(change.Reasons, " "), ReasonZoneFull) {
		t.Fatalf("reasons %v", change.Reasons)
	}
	if _, body := h.get("a.example", "/"); !strings.HasPrefix(body, "two") {
		t.Fatalf("got %q", body)
	}
}

// ownPrefix tells the folders of this run from those of others.
var ownPrefix = fmt.Sprintf("fw%d-", os.Getpid())

func TestMain(m *testing.M) {
	code := m.Run()
	if out, _ := exec.Command("pgrep", "-f", "nginx: master.*-p /tmp/"+ownPrefix).Output(); len(out) > 0 {
		fmt.Fprintf(os.Stderr, "nginx left behind: %s\n", out)
		code = 1
	}
	os.Exit(code)
}
