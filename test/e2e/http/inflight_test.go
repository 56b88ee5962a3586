// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/nginx/process"
)

// holding is a crowd whose endpoints keep requests with ?hold until it lets them go.
type holding struct {
	*crowd
	mu      sync.Mutex
	waiting []int // by endpoint
	release chan struct{}
}

func newHolding(t *testing.T, count int) *holding {
	h := &holding{waiting: make([]int, count), release: make(chan struct{})}
	h.crowd = crowdOf(t, count, func(place int) http.Handler {
		echo := serveEcho(fmt.Sprint(place))
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("hold") {
				h.hold(r.Context(), place)
			}
			if r.URL.Query().Has("break") {
				panic(http.ErrAbortHandler) // closes the connection without an answer
			}
			echo(w, r)
		})
	})
	t.Cleanup(h.letGo)
	return h
}

func (h *holding) hold(ctx context.Context, place int) {
	h.mu.Lock()
	h.waiting[place]++
	release := h.release
	h.mu.Unlock()
	select {
	case <-release:
	case <-ctx.Done():
	}
	h.mu.Lock()
	h.waiting[place]--
	h.mu.Unlock()
}

// letGo answers all requests that are held.
func (h *holding) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.release)
	h.release = make(chan struct{})
}

// await waits until so many requests are held, and gives where.
func (h *holding) await(t *testing.T, count int) []int {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		waiting := slices.Clone(h.waiting)
		h.mu.Unlock()
		sum := 0
		for _, n := range waiting {
			sum += n
		}
		if sum == count {
			return waiting
		}
		if time.Now().After(deadline) {
			t.Fatalf("requests held: %v, want %d in all", waiting, count)
		}
	}
}

// start sends requests, each on a connection of its own: abort closes these, wait waits for the answers.
func start(t *testing.T, host, query string, count int) (abort, wait func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var sent sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range count {
		sent.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/?%s", shared.httpPort, query), nil)
			if err != nil {
				return
			}
			r.Host = host
			if response, err := client.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
	}
	return func() { cancel(); sent.Wait() }, func() { sent.Wait(); cancel() }
}

// even demands that requests one after the other, over both workers, reach all endpoints alike: none is thought to be busy.
func (h *holding) even(t *testing.T, host, after string) {
	t.Helper()
	count := len(h.ports)
	for range 3 { // nginx may hear of an abort a little later
		// Where two workers take turns by themselves, each endpoint gets as many as another, give or take a few.
		counts := h.count(t, host, 20*count, true)
		if slices.Min(counts) >= 12 && slices.Max(counts) <= 28 {
			return
		}
		t.Logf("after %s: %v", after, counts)
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("after %s endpoints are not used alike: a count is wrong", after)
}

// TestNoCountIsLost ends requests in all the ways in which they end, and looks whether an idle backend is balanced evenly afterwards: an endpoint
// that is thought to have a request is not chosen while others have none.
func TestNoCountIsLost(t *testing.T) {
	h := newHolding(t, 3)
	const host = "least.example"
	cluster := rule("least", host, "/", "crowd", prefix+`load-balance: least_conn, `+prefix+`proxy-next-upstream: "error timeout http_503 non_idempotent"`) +
		rule("errors", "errors.example", "/", "crowd", prefix+`load-balance: least_conn, `+prefix+`custom-http-errors: "418", `+prefix+`default-backend: crowd`) +
		h.manifests(-1)
	shared.apply(t, cluster, "")
	h.even(t, host, "the start")

	// What one worker has in flight all know: of nine requests on connections of their own each endpoint gets three.
	abort, _ := start(t, host, "hold", 9)
	if waiting := h.await(t, 9); slices.Max(waiting) > 4 {
		t.Errorf("nine requests are spread as %v", waiting) // two workers may choose at the same moment
	}
	abort()
	h.await(t, 0)
	h.even(t, host, "clients that went away")

	_, wait := start(t, host, "hold", 2)
	h.await(t, 2)
	h.letGo()
	wait()
	h.even(t, host, "answers")

	for name, query := range map[string]string{"tries that fail": "break", "tries that are answered by 503": "status=503"} {
		for range 4 {
			_, wait := start(t, host, query, 1)
			wait()
		}
		h.even(t, host, name)
	}
	for range 4 {
		_, wait := start(t, "errors.example", "status=418", 1)
		wait()
	}
	h.even(t, host, "replaced errors")

	socket := shared.webSocket(t, "ws://"+host+"/")
	h.busy(t, host, "a WebSocket")
	shared.apply(t, cluster+rule("other", "other.example", "/", "crowd", ""), "")
	socket.Close()
	h.even(t, host, "a WebSocket")

	t.Run("reload", func(t *testing.T) {
		_, wait := start(t, host, "hold", 4)
		h.await(t, 4)
		reloads := shared.reloads
		shared.apply(t, cluster, "server-tokens: \"true\"")
		if shared.reloads == reloads {
			t.Error("no reload")
		}
		h.even(t, host, "a reload with requests on old workers")
		h.letGo()
		wait()
		h.even(t, host, "the end of old workers")
	})
	t.Run("crash", func(t *testing.T) {
		abort, _ := start(t, host, "hold", 7) // no multiple of three, or what is lost would not show
		h.await(t, 7)
		for _, pid := range shared.workers(t) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		abort()
		shared.awaitAnswer(t, host)
		h.even(t, host, "a crash of all workers")
	})
}

// busy demands that the endpoint of the one request in flight gets no other, whichever worker takes it, and gives its place.
func (h *holding) busy(t *testing.T, host, what string) int {
	t.Helper()
	counts := h.count(t, host, 40, true)
	if slices.Min(counts) != 0 || slices.Max(counts) == 40 {
		t.Errorf("beside %s, endpoints got %v", what, counts)
	}
	return slices.Index(counts, 0)
}

// TestCountsOutliveChanges changes the endpoints while one of them is busy: it stays the one that gets nothing.
func TestCountsOutliveChanges(t *testing.T) {
	h := newHolding(t, 4)
	const host = "least.example"
	ingress := rule("least", host, "/", "crowd", prefix+`load-balance: least_conn`)
	without := h.manifests(3)
	shared.apply(t, ingress+without, "")
	_, wait := start(t, host, "hold", 1)
	busy := slices.Index(h.await(t, 1), 1)
	for _, manifests := range []string{h.manifests(-1), h.manifests((busy + 1) % 3), h.weighted(3, 3, 3, 3)} {
		shared.apply(t, ingress+manifests, "")
		if counts := h.count(t, host, 30, true); counts[busy] != 0 {
			t.Errorf("endpoint %d is busy, and got more requests: %v", busy, counts)
		}
	}
	h.letGo()
	wait()
	shared.apply(t, ingress+h.manifests(-1), "")
	h.even(t, host, "changes")
}

// workers gives the processes of nginx' workers.
func (s *stage) workers(t *testing.T) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "nginx.pid"))
	if err != nil {
		t.Fatal(err)
	}
	var master int
	if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &master); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for pid := range process.Workers(master) {
		pids = append(pids, pid)
	}
	return pids
}

// awaitAnswer waits until nginx answers again.
func (s *stage) awaitAnswer(t *testing.T, host string) {
	t.Helper()
	dialer := &net.Dialer{Timeout: time.Second}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dialer.DialContext}, Timeout: 5 * time.Second}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", s.httpPort), nil)
		r.Host, r.RequestURI = host, ""
		if response, err := client.Do(r); err == nil {
			response.Body.Close()
			return
		}
	}
	t.Fatal("nginx does not answer")
}
