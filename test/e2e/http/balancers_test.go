// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"io"
	"maps"
	"math/rand"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// ways are all ways to balance by their names, as annotations.
var ways = map[string]string{
	"round-robin": "", "random": prefix + `load-balance: random`, "ewma": prefix + `load-balance: ewma`,
	"least-conn": prefix + `load-balance: least_conn`, "p2c": prefix + `load-balance: p2c`,
	"hash":   prefix + `upstream-hash-by: "$arg_key"`,
	"subset": prefix + `upstream-hash-by: "$arg_key", ` + prefix + `upstream-hash-by-subset: "true"`,
	"cookie": prefix + `affinity: cookie`, "persistent": prefix + `affinity: cookie, ` + prefix + `affinity-mode: persistent`,
}

// rules are Ingresses of which each balances the crowd in its way, on the host NAME.example.
func rules(names ...string) string {
	text := ""
	for _, name := range names {
		text += rule(name, name+".example", "/", "crowd", ways[name])
	}
	return text
}

// TestDistribution demands equal shares of endpoints that are alike, of as many requests on connections of their own.
func TestDistribution(t *testing.T) {
	const requests = 2000
	crowd := newCrowd(t, 5)
	names := slices.Sorted(maps.Keys(ways))
	shared.apply(t, rules(names...)+crowd.manifests(-1), "")
	for _, name := range names {
		if name == "ewma" { // goes by times, which differ
			continue
		}
		got := crowd.count(t, name+".example", requests, name != "round-robin")
		if name == "subset" && slices.Min(got) > 0 {
			continue // groups overlap, and so some endpoints have more
		}
		checkDistribution(t, name, got, shares(requests, 1, 1, 1, 1, 1))
		if name == "round-robin" && slices.Max(got)-slices.Min(got) > 4 { // one per worker, for each connection that nginx ended
			t.Errorf("one after the other: %v", got)
		}
	}
}

// queue is a server that answers one request at a time, each after so long.
type queue struct {
	turn          sync.Mutex
	took          time.Duration
	waiting, most atomic.Int32
	echo          http.Handler
}

func (q *queue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := q.waiting.Add(1)
	for most := q.most.Load(); n > most && !q.most.CompareAndSwap(most, n); most = q.most.Load() {
	}
	if q.took > 0 {
		q.turn.Lock()
		time.Sleep(q.took)
		q.turn.Unlock()
	}
	q.waiting.Add(-1)
	q.echo.ServeHTTP(w, r)
}

// TestSlowEndpoint lets 24 clients ask three endpoints of which one can do little: in turns nearly all clients wait for that one, and by ways that look
// at it they don't. All figures are compared with those of round robin in the same run.
func TestSlowEndpoint(t *testing.T) {
	const clients, requests = 24, 25
	queues := make([]*queue, 3)
	crowd := crowdOf(t, 3, func(place int) http.Handler {
		queues[place] = &queue{echo: serveEcho(fmt.Sprint(place))}
		if place == 0 {
			queues[place].took = 5 * time.Millisecond
		}
		return queues[place]
	})
	shared.apply(t, rules("round-robin", "least-conn", "p2c", "ewma")+crowd.manifests(-1), "")
	type outcome struct {
		p99     time.Duration // of all requests
		slow    time.Duration // of those to the slow endpoint
		longest int32         // most requests at once at the slow endpoint
	}
	run := func(name string) outcome {
		queues[0].most.Store(0)
		all, slow := race(t, name+".example", clients, requests)
		got := outcome{quantile99(all), quantile99(slow), queues[0].most.Load()}
		t.Logf("%-12s p99 %s, at the slow endpoint %s of %d, which had %d at once", name, got.p99, got.slow, len(slow), got.longest)
		return got
	}
	base := run("round-robin")
	within := func(got outcome, most float64) bool {
		return float64(got.p99) <= most*float64(base.p99) && float64(got.slow) <= most*float64(base.slow) && float64(got.longest) <= most*float64(base.longest)
	}
	results := map[string]outcome{}
	for name, most := range map[string]float64{"least-conn": 0.7, "p2c": 0.8, "ewma": 0.8} {
		for attempt := range 3 { // when the machine stands still for a moment, all requests under way are slow
			if results[name] = run(name); within(results[name], most) {
				break
			}
			if attempt == 2 {
				t.Errorf("%s: %+v, more than %g of %+v, three times", name, results[name], most, base)
			}
		}
	}
	// Two workers may choose at the same moment, and each more than the other has seen.
	if got := results["least-conn"].longest; got > clients/3+4 {
		t.Errorf("least_conn: %d requests at once at the slow endpoint, of %d", got, clients)
	}
}

// race sends requests of many clients, each one after the other, and gives how long they took: all, and those of endpoint 0.
func race(t *testing.T, host string, clients, requests int) (all, slow []time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var done sync.WaitGroup
	for range clients {
		done.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range requests {
				r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/?reflect=x", shared.httpPort), nil)
				if err != nil {
					t.Error(err)
					return
				}
				r.Host = host
				begin := time.Now()
				response, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				text, _ := io.ReadAll(response.Body)
				response.Body.Close()
				took := time.Since(begin)
				mu.Lock()
				all = append(all, took)
				if len(text) > 12 && string(text[:12]) == `{"backend":"` && text[12] == '0' {
					slow = append(slow, took)
				}
				mu.Unlock()
			}
		})
	}
	done.Wait()
	return all, slow
}

func quantile99(list []time.Duration) time.Duration {
	slices.Sort(list)
	if len(list) == 0 {
		return 0
	}
	return list[len(list)*99/100]
}

// TestReplicasAgree sends the same keys through two Fairways: they hash them to the same endpoints, also where these differ in weight.
func TestReplicasAgree(t *testing.T) {
	const keys = 300
	crowd := newCrowd(t, 7)
	other, err := newStage()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { other.stop(); <-other.stopped }()
	other.backends = shared.backends
	for _, manifests := range []string{crowd.manifests(-1), crowd.weighted(1, 2, 3, 4, 5, 6, 7)} {
		cluster := rules("hash", "cookie") + manifests
		shared.apply(t, cluster, "")
		other.apply(t, cluster, "")
		for _, name := range []string{"hash", "cookie"} {
			ask := func(port int) []string {
				return endpointsOf(t, keys, func(key int) (*http.Request, error) {
					r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/?key=%d", port, key), nil)
					if err == nil {
						r.Host = name + ".example"
						r.Header.Set("Cookie", fmt.Sprintf("INGRESSCOOKIE=key-%d", key))
					}
					return r, err
				})
			}
			if one, two := ask(shared.httpPort), ask(other.httpPort); !slices.Equal(one, two) {
				t.Errorf("%s: two replicas send keys to\n%v\n%v", name, one, two)
			}
		}
	}
}

// TestChangesUnderLoad changes endpoints and their weights a thousand times while requests go through every way to balance: none fails, and nginx
// is not reloaded.
func TestChangesUnderLoad(t *testing.T) {
	const changes = 1000
	crowd := newCrowd(t, 6)
	names := slices.Sorted(maps.Keys(ways))
	cluster := rules(names...) + crowd.manifests(-1)
	shared.apply(t, cluster, "")
	m := shared.build(t, cluster, "")
	id := model.BackendID{Namespace: "default", Service: "crowd", Port: "80"}
	place := slices.IndexFunc(m.Backends, func(b *model.Backend) bool { return b.ID == id })
	all := m.Backends[place].Endpoints
	reloads := shared.reloads

	var sent, failed atomic.Int64
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for i := range 6 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := i; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				name := names[n%len(names)]
				r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/?key=%d", shared.httpPort, n), nil)
				if err != nil {
					t.Error(err)
					return
				}
				r.Host = name + ".example"
				response, err := client.Do(r)
				sent.Add(1)
				if err != nil || response.StatusCode != http.StatusOK {
					failed.Add(1)
					t.Logf("%s: %v %v", name, response, err)
				}
				if err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
			}
		})
	}
	random := rand.New(rand.NewSource(5))
	for change := range changes {
		var endpoints []model.Endpoint
		for _, e := range all {
			if random.Intn(2) == 0 {
				e.Weight = 1 + change/100%2*random.Intn(4)
				endpoints = append(endpoints, e)
			}
		}
		if endpoints == nil {
			endpoints = all[:1]
		}
		next := *m
		next.Backends = slices.Clone(m.Backends)
		next.Backends[place] = &model.Backend{ID: id, Endpoints: endpoints}
		shared.applyModel(t, &next)
		if change%10 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	close(stop)
	clients.Wait()
	if shared.reloads != reloads || failed.Load() > 0 || sent.Load() < 100 {
		t.Errorf("%d of %d requests failed in %d changes, %d reloads", failed.Load(), sent.Load(), changes, shared.reloads-reloads)
	}
	t.Logf("%d requests in %d changes", sent.Load(), changes)
}
