// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// measureRequests compares CPU time per request. The proxy has one core, load generator and backend the other; rounds are short, in random
// order, and the ratio to static nginx is taken within each round, so that a noisy neighbour disturbs both sides alike.
func measureRequests(ctx context.Context, s settings, r *report) error {
	for _, tool := range []string{"wrk", "haproxy", "taskset"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w; run hack/install-packages.sh bench", err)
		}
	}
	rounds, length := 9, 4*time.Second
	cases := []requestCase{{1, false}, {1, true}, {10000, false}}
	if s.quick {
		rounds, length = 4, 2*time.Second
		cases = []requestCase{{1, true}, {10000, false}}
	}
	for _, c := range cases {
		if err := c.measure(ctx, r, rounds, length); err != nil {
			return err
		}
	}
	return nil
}

// The ways through Fairway that are compared with static nginx, which does no policy at all.
const (
	defaultShape = "Fairway, default shape"
	secondShape  = "Fairway, second shape"
	fourPolicies = "Fairway, limit + CORS + allow list + canary"
)

var budgets = map[string]float64{defaultShape: 1.10, secondShape: 1.20, fourPolicies: 1.35}

// requestCase is a set-up in which the proxies are compared.
type requestCase struct {
	hosts int
	log   bool
}

func (c requestCase) String() string {
	return fmt.Sprintf("%d hosts, access log %s", c.hosts, map[bool]string{true: "on", false: "off"}[c.log])
}

func (c requestCase) measure(ctx context.Context, r *report, rounds int, length time.Duration) error {
	dir, err := testbed.NewDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stopBackends, err := startBackends(dir)
	if err != nil {
		return err
	}
	defer stopBackends()
	proxies, err := c.start(dir)
	if err != nil {
		return err
	}
	for _, p := range proxies {
		defer p.stop()
	}
	script := filepath.Join(dir, "hosts.lua")
	if err := os.WriteFile(script, []byte(wrkScript(min(c.hosts, 1000))), 0o644); err != nil {
		return err
	}
	for _, p := range proxies { // warm
		if _, err := p.round(ctx, script, time.Second); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	costs, ratios := map[string][]float64{}, map[string][]float64{}
	for round := range rounds {
		progress("requests: %s: round %d of %d", c, round+1, rounds)
		cost := map[string]float64{}
		for _, i := range rand.Perm(len(proxies)) {
			if cost[proxies[i].name], err = proxies[i].round(ctx, script, length); err != nil {
				return fmt.Errorf("%s: %w", proxies[i].name, err)
			}
		}
		for name, v := range cost {
			costs[name] = append(costs[name], v)
			ratios[name] = append(ratios[name], v/cost["static nginx"])
		}
	}
	for _, p := range proxies {
		note := fmt.Sprintf("median of %d rounds; %s µs CPU per request", rounds, short(quantile(costs[p.name], .5)))
		what := fmt.Sprintf("%s, %s", p.name, c)
		budget := budgets[p.name]
		ratio := quantile(ratios[p.name], .5)
		if budget > 0 {
			r.addBudget("requests", what, ratio, "× static", budget, note)
		} else {
			r.add("requests", what, ratio, "× static", note)
		}
	}
	return nil
}

func (c requestCase) start(dir string) ([]*proxy, error) {
	ports, err := freePorts(8)
	if err != nil {
		return nil, err
	}
	var log *os.File
	staticLog := ""
	if c.log {
		staticLog = filepath.Join(dir, "static.log")
		if log, err = os.OpenFile(filepath.Join(dir, "fairway.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
			return nil, err
		}
	}
	var list []*proxy
	fail := func(err error) ([]*proxy, error) {
		for _, p := range list {
			p.stop()
		}
		return nil, err
	}
	static, err := startStatic(filepath.Join(dir, "static"), ports[0], c.hosts, staticLog)
	if err != nil {
		return fail(err)
	}
	list = append(list, static)
	ways, err := startFairway(filepath.Join(dir, "fairway"), ports[1], c.hosts, log, nil)
	if err != nil {
		return fail(err)
	}
	list = append(list, ways...)
	if !c.log { // HAProxy logs to syslog alone, which is not comparable
		haproxy, err := startHAProxy(filepath.Join(dir, "haproxy"), ports[4], c.hosts)
		if err != nil {
			return fail(err)
		}
		list = append(list, haproxy)
	}
	return list, nil
}

// wrkScript spreads requests over hosts.
func wrkScript(hosts int) string {
	return fmt.Sprintf(`local requests, i, n = {}, 0, %d
init = function() for k = 0, n - 1 do requests[k] = wrk.format("GET", nil, { Host = string.format("host%%05d.example", k), Origin = "https://app.example" }) end end
request = function() i = (i + 1) %% n return requests[i] end
`, hosts)
}

var (
	wrkRequests = regexp.MustCompile(`(\d+) requests in`)
	wrkErrors   = regexp.MustCompile(`Non-2xx|Socket errors`)
)

// round loads the proxy for a while and gives its CPU time per request in µs.
func (p *proxy) round(ctx context.Context, script string, length time.Duration) (float64, error) {
	pid := p.pid()
	if pid == 0 {
		return 0, errors.New("the process is not running")
	}
	if err := pin(pid, "0"); err != nil {
		return 0, err
	}
	before, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, "taskset", "-c", "1", "wrk", "-t1", "-c32", fmt.Sprintf("-d%ds", int(length.Seconds())), "-s", script,
		fmt.Sprintf("http://127.0.0.1:%d%s", p.port, p.path)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("wrk: %w: %s", err, out)
	}
	found := wrkRequests.FindSubmatch(out)
	if found == nil || wrkErrors.Match(out) {
		return 0, fmt.Errorf("wrk: %s", strings.TrimSpace(string(out)))
	}
	requests, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		return 0, err
	}
	after, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	return (after - before).Seconds() * 1e6 / requests, nil
}

// pin keeps a process and its threads on one core.
func pin(pid int, core string) error {
	if out, err := exec.Command("taskset", "-a", "-pc", core, strconv.Itoa(pid)).CombinedOutput(); err != nil {
		return fmt.Errorf("taskset: %w: %s", err, out)
	}
	return nil
}

// cpuTime is the user and system time of a process so far, from the scheduler, to the nanosecond.
func cpuTime(pid int) (time.Duration, error) {
	var sum time.Duration
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(tasks) == 0 {
		return 0, fmt.Errorf("process %d is gone", pid)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			return 0, err
		}
		var ns int64
		if _, err := fmt.Sscan(string(text), &ns); err != nil {
			return 0, err
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}
