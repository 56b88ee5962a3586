// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/md5"
	"fmt"
	"log/slog"
	"math/rand"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// balancerBudget is what a way to balance may cost, of a request balanced by round robin, CPU time of all.
const balancerBudget = 1.10

// crowdSize is how many endpoints the balanced backend has.
const crowdSize = 10

// balancer is a way to balance that is measured.
type balancer struct {
	name     string
	balance  *model.Balance
	weighted bool // takes the backend whose endpoints differ in weight
	quick    bool // is measured in a short run too
	outlier  *model.Outlier
}

// roundRobin is what the others are compared with: a Fairway of its own, in which nothing asks for the ends of requests.
const roundRobin = "round robin"

func balancers() []balancer {
	affinity := func(persistent bool) *model.Balance {
		return &model.Balance{Affinity: &model.Affinity{Name: map[bool]string{false: "balanced", true: "persistent"}[persistent], Path: "/", Persistent: persistent}}
	}
	ejects := func(rate int) *model.Outlier {
		return &model.Outlier{Consecutive: 5, Rate: rate, Window: 30 * time.Second, MinRequests: 20, Base: time.Minute, Longest: time.Minute, MostPercent: 50}
	}
	by := func(a model.Algorithm) *model.Balance { return &model.Balance{Algorithm: a} }
	return []balancer{
		{"round robin, where others count", nil, false, false, nil},
		{"round robin, weighted", nil, true, false, nil},
		{"random", by(model.Random), false, false, nil},
		{"least_conn", by(model.LeastConn), false, true, nil},
		{"least_conn, weighted", by(model.LeastConn), true, false, nil},
		{"p2c", by(model.P2C), false, true, nil},
		{"ewma", by(model.EWMA), false, true, nil},
		{"hash", &model.Balance{Algorithm: model.Hash, HashBy: "${request_uri}"}, false, true, nil},
		{"hash, weighted", &model.Balance{Algorithm: model.Hash, HashBy: "${request_uri}"}, true, false, nil},
		{"hash to groups of 3", &model.Balance{Algorithm: model.Hash, HashBy: "${request_uri}", Subset: 3}, false, false, nil},
		{"cookie, balanced", affinity(false), false, false, nil},
		{"cookie, persistent", affinity(true), false, false, nil},
		{"round robin, failures in a row eject", nil, false, true, ejects(0)},
		{"round robin, a rate of failures ejects too", nil, false, true, ejects(50)},
	}
}

// measureBalancers compares the CPU time of requests that differ in nothing but how they are balanced, within each round.
func measureBalancers(ctx context.Context, s settings, r *report) error {
	rounds, length := 7, 2*time.Second
	list := balancers()
	if s.quick {
		rounds, length = 2, time.Second
		var short []balancer
		for _, b := range list {
			if b.quick {
				short = append(short, b)
			}
		}
		list = short
	}
	dir, err := testbed.NewDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stopCrowd, err := startCrowd(dir)
	if err != nil {
		return err
	}
	defer stopCrowd()
	ways, stopBase, err := startBalanced(filepath.Join(dir, "base"), []balancer{{name: roundRobin}})
	if err != nil {
		return err
	}
	defer stopBase()
	others, stop, err := startBalanced(filepath.Join(dir, "fairway"), list)
	if err != nil {
		return err
	}
	defer stop()
	ways = append(ways, others...)
	script := filepath.Join(dir, "cookies.lua")
	if err := os.WriteFile(script, []byte(cookieScript()), 0o644); err != nil {
		return err
	}
	for _, way := range ways { // warm
		if _, err := way.round(ctx, script, time.Second); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
	}
	costs, ratios := map[string][]float64{}, map[string][]float64{}
	for round := range rounds {
		progress("balancers: round %d of %d", round+1, rounds)
		cost := map[string]float64{}
		for _, i := range rand.Perm(len(ways)) {
			if cost[ways[i].name], err = ways[i].round(ctx, script, length); err != nil {
				return fmt.Errorf("%s: %w", ways[i].name, err)
			}
		}
		for name, v := range cost {
			costs[name] = append(costs[name], v)
			ratios[name] = append(ratios[name], v/cost[roundRobin])
		}
	}
	for _, way := range ways {
		note := fmt.Sprintf("median of %d rounds; %s µs CPU per request", rounds, short(quantile(costs[way.name], .5)))
		what := fmt.Sprintf("%s, %d endpoints", way.name, crowdSize)
		if way.name == roundRobin {
			r.add("balancers", what, 1, "× round robin", note)
		} else {
			r.addBudget("balancers", what, quantile(ratios[way.name], .5), "× round robin", balancerBudget, note)
		}
	}
	return nil
}

// startCrowd runs an nginx that answers 64 bytes on as many ports as there are endpoints.
func startCrowd(dir string) (func(), error) {
	var ports strings.Builder
	for i := range crowdSize {
		fmt.Fprintf(&ports, "listen 127.0.0.1:%d backlog=4096; ", backendPort+i)
	}
	return startNginx(filepath.Join(dir, "backend"), fmt.Sprintf(`
worker_processes 1; events { worker_connections 4096; }
http { access_log off; keepalive_requests 1000000;
  server { %s location / { return 200 "0123456789012345678901234567890123456789012345678901234567890123"; } } }
`, &ports), nil)
}

// startBalanced runs a Fairway with a path for each way to balance.
func startBalanced(dir string, list []balancer) (ways []*proxy, stop func(), err error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, nil, err
	}
	driver, err := nginx.New(nginx.Options{
		RuntimeDir: dir, Address: "127.0.0.1", HTTPPort: ports[0], HTTPSPort: ports[1], ErrorLog: discard{}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- driver.Run(ctx) }()
	stop = func() { cancel(); <-ended }
	applied, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	if _, err := driver.Apply(applied, balancedModel(list)); err != nil {
		stop()
		return nil, nil, err
	}
	pid := func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "nginx.pid"))
		var master int
		_, _ = fmt.Sscan(string(text), &master)
		return firstChild(master)
	}
	for i, b := range list {
		ways = append(ways, &proxy{name: b.name, port: ports[0], path: fmt.Sprintf("/way%02d/", i), pid: pid})
	}
	return ways, stop, nil
}

func balancedModel(list []balancer) *model.Model {
	m := &model.Model{Settings: model.DefaultSettings()}
	m.Settings.Workers, m.Settings.AccessLog, m.Settings.WorkerShutdownTimeout = 1, false, time.Second
	plain := &model.Backend{ID: model.BackendID{Namespace: "ns", Service: "plain", Port: "80"}}
	weighted := &model.Backend{ID: model.BackendID{Namespace: "ns", Service: "weighted", Port: "80"}}
	for i := range crowdSize {
		e := model.NewEndpoint(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(backendPort+i)))
		plain.Endpoints = append(plain.Endpoints, e)
		e.Weight = 1 + i%3
		weighted.Endpoints = append(weighted.Endpoints, e)
	}
	m.Backends = []*model.Backend{plain, weighted}
	host := &model.Host{Name: model.CatchAll}
	for i, b := range list {
		backend := plain
		if b.weighted {
			backend = weighted
		}
		if b.outlier != nil {
			watched := *plain
			watched.ID.Service, watched.Health = fmt.Sprintf("watched%d", i), &model.Health{Outlier: b.outlier}
			backend = &watched
			m.Backends = append(m.Backends, backend)
		}
		path := fmt.Sprintf("/way%02d/", i)
		route := &model.Route{Owner: model.Ref{Kind: "Ingress", Namespace: "ns", Name: "balanced"}, Path: path, Backend: backend.ID, Policy: m.Settings.Route}
		route.Policy.HTTPSRedirect, route.Policy.Balance = false, b.balance
		host.Matches = append(host.Matches, model.Match{Kind: model.Prefix, Path: path, Route: route})
	}
	m.Hosts = []*model.Host{host}
	slices.SortFunc(m.Backends, func(a, b *model.Backend) int { return a.ID.Compare(b.ID) })
	return m
}

// cookieScript sends the cookies of a hundred clients that came before, with all requests alike.
func cookieScript() string {
	var keys []string
	for i := range crowdSize {
		keys = append(keys, fmt.Sprintf("%q", fmt.Sprintf("%x", md5.Sum(fmt.Appendf(nil, "fairway endpoint 127.0.0.1:%d", backendPort+i)))))
	}
	return fmt.Sprintf(`local keys, requests, i, n = { %s }, {}, 0, 100
init = function() for k = 0, n - 1 do
  requests[k] = wrk.format("GET", wrk.path .. "item" .. k, { Cookie = "balanced=client" .. k .. "|0; persistent=" .. keys[k %% #keys + 1] .. "|0" })
end end
request = function() i = (i + 1) %% n return requests[i] end
`, strings.Join(keys, ", "))
}
