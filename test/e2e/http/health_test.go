// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/fairway-ingress/fairway/internal/model"
)

// pool is a Service of moods; those that go are terminating but serving.
type pool struct{ name, annotations string }

// newPool gives one with a name that no other test, nor another run of this one, has: what is known of endpoints outlives tests.
func newPool(t *testing.T, annotations string) pool {
	shared.cases++
	resetMoods(t)
	t.Cleanup(func() { resetMoods(t) })
	return pool{fmt.Sprintf("pool-%d", shared.cases), annotations}
}

// of gives the manifests with members "m1", or "m1-" for one that goes.
func (p pool) of(members ...string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "---\n{apiVersion: v1, kind: Service, metadata: {name: %s, annotations: {%s}}, spec: {ports: [{name: main, port: 80}]}}\n", p.name, p.annotations)
	for _, member := range members {
		name, goes := strings.CutSuffix(member, "-")
		fmt.Fprintf(&out, `---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: %[1]s-%[2]s, labels: {kubernetes.io/service-name: %[1]s}},
 addressType: IPv4, ports: [{name: main, port: %[3]d}], endpoints: [{addresses: [%[4]s], conditions: {ready: %[5]v, serving: true, terminating: %[6]v}}]}
`, p.name, name, moods[name].address.Port(), moods[name].address.Addr(), !goes, goes)
	}
	return out.String()
}

// ask sends a request on a connection of its own, so that all workers get some, and gives the backend that answered, "" for an answer of no echo.
func ask(t *testing.T, host, cookie string) (backend string, code int, got []*http.Cookie) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", shared.httpPort), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host, request.Close = host, true
	if cookie != "" {
		request.Header.Set("Cookie", "INGRESSCOOKIE="+cookie)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var saw seen
	if response.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, &saw); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	return saw.Backend, response.StatusCode, response.Cookies()
}

// share counts who answers.
func share(t *testing.T, host string, requests int) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for range requests {
		backend, _, _ := ask(t, host, "")
		counts[backend]++
	}
	return counts
}

// ejected gives the endpoints of a pool that are out, with when that ends.
func (p pool) ejected(t *testing.T) []model.EndpointHealth {
	t.Helper()
	list, _, err := shared.driver.Ejected(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mine []model.EndpointHealth
	for _, e := range list {
		if e.Backend.Service == p.name {
			mine = append(mine, e)
		}
	}
	return mine
}

// awaitEjection sends requests until an endpoint of the pool is out.
func (p pool) awaitEjection(t *testing.T, host string) model.EndpointHealth {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		ask(t, host, "")
		if out := p.ejected(t); len(out) > 0 {
			return out[0]
		}
	}
	t.Fatal("no endpoint is ejected")
	panic("unreachable")
}

// TestEjectionOutlivesChanges has both workers see some of the failures. Then all know who is out, also when other endpoints come and when nginx reads another configuration.
func TestEjectionOutlivesChanges(t *testing.T) {
	p := newPool(t, `fairway.dev/outlier-consecutive-failures: "4"`)
	ingress := rule("out", "out.example", "/", p.name, "")
	shared.apply(t, ingress+p.of("m1", "m2", "m3"), "")
	moods["m1"].set(t, "500")
	p.awaitEjection(t, "out.example")
	for _, change := range []struct {
		what, manifests, settings string
		reload                    bool
	}{
		{what: "nothing", manifests: ingress + p.of("m1", "m2", "m3")},
		{what: "fewer endpoints", manifests: ingress + p.of("m1", "m2")},
		{what: "an endpoint that comes", manifests: ingress + p.of("m1", "m2", "m3")},
		{what: "a reload", manifests: ingress + p.of("m1", "m2", "m3"), settings: `keep-alive: "33"`, reload: true},
	} {
		if c := shared.apply(t, change.manifests, change.settings); c.Reload != change.reload {
			t.Errorf("after %s: reload %v (%v)", change.what, c.Reload, c.Reasons)
		}
		if counts := share(t, "out.example", 40); counts[""] > 0 || counts["m1"] > 0 || counts["m2"] == 0 {
			t.Errorf("after %s the endpoint that is out gets requests: %v", change.what, counts)
		}
	}
	shared.apply(t, ingress+p.of("m1", "m2"), "")
}

// TestEjectionsGrow ejects an endpoint again and again: each time for twice as long.
func TestEjectionsGrow(t *testing.T) {
	p := newPool(t, `fairway.dev/outlier-consecutive-failures: "2", fairway.dev/outlier-base-ejection-time: "1s", fairway.dev/outlier-max-ejection-time: "3s"`)
	shared.apply(t, rule("grow", "grow.example", "/", p.name, "")+p.of("m1", "m2"), "")
	moods["m1"].set(t, "hangup")
	for i, want := range []time.Duration{1, 2, 3} {
		out := p.awaitEjection(t, "grow.example")
		if length := out.Until.Sub(out.Since).Round(100 * time.Millisecond); length != want*time.Second {
			t.Fatalf("ejection %d lasts %s, not %s s", i+1, length, want)
		}
		if i < 2 {
			time.Sleep(time.Until(out.Until))
		}
	}
}

// TestNeverMoreThanHalf has three of four endpoints fail: two are out, never more, and both that are left get requests.
func TestNeverMoreThanHalf(t *testing.T) {
	p := newPool(t, `fairway.dev/outlier-consecutive-failures: "3"`)
	slices := p.of("m1", "m2", "m3") + fmt.Sprintf(`---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: %[1]s-web, labels: {kubernetes.io/service-name: %[1]s}},
 addressType: IPv4, ports: [{name: main, port: ${web.port}}], endpoints: [{addresses: ["${web.ip}"]}]}
`, p.name)
	shared.apply(t, rule("half", "half.example", "/", p.name, "")+slices, "")
	for _, name := range []string{"m1", "m2", "m3"} {
		moods[name].set(t, "503")
	}
	most := 0
	for range 60 {
		ask(t, "half.example", "")
		most = max(most, len(p.ejected(t)))
	}
	if most != 2 {
		t.Errorf("%d of 4 endpoints are out at once", most)
	}
	if counts := share(t, "half.example", 20); counts["web"] < 5 || counts[""] < 5 {
		t.Errorf("who is left gets %v of 20", counts)
	}
	// When endpoints go, of those that were out just as many stay out as may be.
	shared.apply(t, rule("half", "half.example", "/", p.name, "")+p.of("m1", "m2", "m3"), "")
	codes := map[int]bool{}
	for name, mood := range map[string]string{"m1": "501", "m2": "502", "m3": "504"} {
		moods[name].set(t, mood)
	}
	for range 40 {
		_, code, _ := ask(t, "half.example", "")
		codes[code] = true
	}
	if len(codes) < 2 {
		t.Errorf("of three endpoints more than one is out: answers %v", codes)
	}
}

// TestGRPCOutlier ejects a server that answers calls with UNAVAILABLE, which is no status of HTTP.
func TestGRPCOutlier(t *testing.T) {
	p := newPool(t, `fairway.dev/outlier-consecutive-failures: "3"`)
	shared.apply(t, rule("calls", "calls.example", "/", p.name, prefix+"backend-protocol: GRPC")+p.of("g1", "g2"), "")
	moods["g1"].set(t, "failing")
	client := dialGRPC(t, "calls.example")
	failed, row := 0, 0
	for deadline := time.Now().Add(patience); row < 20 && time.Now().Before(deadline); row++ {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := client.Check(ctx, &healthpb.HealthCheckRequest{})
		cancel()
		if status.Code(err) == codes.Unavailable {
			failed, row = failed+1, 0
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if failed < 3 || row < 20 {
		t.Errorf("after %d failures %d calls in a row succeeded", failed, row)
	}
}

// TestStickyDraining lets an endpoint go that clients are kept on: they stay with it while it serves, nobody else comes, and they move without an error when it is gone.
func TestStickyDraining(t *testing.T) {
	for _, mode := range []string{"balanced", "persistent"} {
		t.Run(mode, func(t *testing.T) {
			p := newPool(t, "")
			host := mode + ".example"
			ingress := rule("keep", host, "/", p.name, prefix+"affinity: cookie, "+prefix+"affinity-mode: "+mode)
			shared.apply(t, ingress+p.of("m1", "m2", "m3"), "")
			clients := map[string]string{} // endpoint by cookie
			for range 40 {                 // cookies of a persistent kind are as many as endpoints
				backend, _, cookies := ask(t, host, "")
				clients[cookies[0].Value] = backend
			}
			shared.apply(t, ingress+p.of("m1-", "m2", "m3"), "")
			for cookie, before := range clients {
				if backend, _, cookies := ask(t, host, cookie); backend != before || len(cookies) > 0 {
					t.Errorf("a client of %s goes to %q while m1 drains, and gets %v", before, backend, cookies)
				}
			}
			if counts := share(t, host, 40); counts["m1"] > 0 || counts["m2"] == 0 || counts["m3"] == 0 {
				t.Errorf("new clients go to %v while m1 drains", counts)
			}
			moods["m1"].set(t, "gone") // and Kubernetes does not know yet
			for cookie, before := range clients {
				if backend, code, _ := ask(t, host, cookie); code != http.StatusOK || before != "m1" && backend != before {
					t.Errorf("a client of %s gets %d of %q when m1 is gone", before, code, backend)
				}
			}
			shared.apply(t, ingress+p.of("m2", "m3"), "")
			for cookie, before := range clients {
				backend, code, _ := ask(t, host, cookie)
				if code != http.StatusOK || before != "m1" && backend != before {
					t.Errorf("a client of %s gets %d of %q at the end", before, code, backend)
				}
			}
		})
	}
}

// TestLastDraining uses endpoints that are about to go when there are no others, for everybody.
func TestLastDraining(t *testing.T) {
	p := newPool(t, "")
	shared.apply(t, rule("last", "last.example", "/", p.name, prefix+"affinity: cookie")+p.of("m1-", "m2-"), "")
	if counts := share(t, "last.example", 20); counts["m1"] == 0 || counts["m2"] == 0 {
		t.Errorf("answers %v", counts)
	}
	shared.apply(t, rule("last", "last.example", "/", p.name, "")+p.of("m1-", "m2"), "")
	if counts := share(t, "last.example", 20); counts["m2"] != 20 {
		t.Errorf("answers %v while another is ready", counts)
	}
}

// TestNoRequestLost has clients ask while an endpoint goes and comes: first it refuses connections, and breaks those that nginx keeps, then the
// controller hears of it.
func TestNoRequestLost(t *testing.T) {
	p := newPool(t, "")
	ingress := rule("lossless", "lossless.example", "/", p.name, "")
	shared.apply(t, ingress+p.of("m1", "m2"), "")
	var failures atomic.Int64
	var clients sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 4 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for ctx.Err() == nil {
				request, _ := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", shared.httpPort), nil)
				request.Host = "lossless.example"
				response, err := client.Do(request)
				if err != nil || response.StatusCode != http.StatusOK {
					failures.Add(1)
				}
				if err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
			}
		})
	}
	for range 10 {
		time.Sleep(30 * time.Millisecond)
		moods["m1"].set(t, "gone")
		time.Sleep(30 * time.Millisecond)
		shared.apply(t, ingress+p.of("m2"), "")
		moods["m1"].set(t, "fine")
		shared.apply(t, ingress+p.of("m1", "m2"), "")
	}
	stop()
	clients.Wait()
	if n := failures.Load(); n > 0 {
		t.Errorf("%d requests failed", n)
	}
}

// TestChecksOncePerEndpoint leads many hosts to a Service: its endpoints are asked as often as by one.
func TestChecksOncePerEndpoint(t *testing.T) {
	p := newPool(t, `fairway.dev/health-check-type: HTTP, fairway.dev/health-check-path: /healthz, fairway.dev/health-check-interval: 500ms`)
	var routes strings.Builder
	for i := range 30 {
		routes.WriteString(rule(fmt.Sprintf("many-%d", i), fmt.Sprintf("many-%d.example", i), "/", p.name, ""))
	}
	shared.apply(t, routes.String()+p.of("m1", "m2"), "")
	for deadline := time.Now().Add(patience); moods["m1"].checks() == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	before, begin := moods["m1"].checks(), time.Now()
	for deadline := begin.Add(patience); moods["m1"].checks() < before+3 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if most := int(time.Since(begin)/(450*time.Millisecond)) + 2; moods["m1"].checks()-before < 3 || moods["m1"].checks()-before > most {
		t.Errorf("%d checks within %s", moods["m1"].checks()-before, time.Since(begin))
	}
}
