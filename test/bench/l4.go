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
	"runtime"
	"time"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// Budgets of internal/l4, from its issue.
const (
	// bulkBudget is CPU time per GiB against nginx' stream module.
	bulkBudget = 1.1
	// connectionBudget is against HAProxy in TCP mode, of CPU time per connection and of the time for a number of them: 0.7 times as many per second.
	connectionBudget = 1 / 0.7
)

// measureL4 compares TCP and UDP services with nginx' stream module and HAProxy, and handshakes through TLS passthrough with those that end in nginx.
// The proxies have one core and one thread for their work each, load and backends the other core. Rounds are short, in random order, and ratios are
// taken within each round.
func measureL4(ctx context.Context, s settings, r *report) error {
	for _, tool := range []string{"wrk", "haproxy", "taskset"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w; run hack/install-packages.sh bench", err)
		}
	}
	dir, err := testbed.NewDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := pin(os.Getpid(), "1"); err != nil {
		return err
	}
	defer func() { _ = pin(os.Getpid(), fmt.Sprintf("0-%d", runtime.NumCPU()-1)) }()
	l, err := newL4Stage(dir)
	if err != nil {
		return err
	}
	defer l.close()
	rounds, length := 7, 2*time.Second
	if s.quick {
		rounds, length = 2, time.Second
	}
	for _, c := range l.contests(length) {
		if err := c.run(ctx, r, rounds); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return l.handshakes(ctx, r, 2*rounds)
}

// contest is one kind of work that proxies are compared at.
type contest struct {
	name string // of the work
	unit string // of which the work is so many
	// timeUnit is that of CPU time, which has scale µs.
	timeUnit string
	scale    float64
	sides    []l4Proxy
	// load does the work at a port and gives how much it was.
	load func(ctx context.Context, port int) (float64, error)
	// against names the proxy that the others are measured by; budget bounds Fairway's CPU time by it, rate also the time that the same amount takes.
	against      string
	budget, rate float64
}

// l4Proxy is a program that is compared.
type l4Proxy struct {
	name string
	port int
	pid  func() int
}

// effort is what one round took, per unit of work.
type effort struct{ cpu, elapsed time.Duration }

func (c *contest) run(ctx context.Context, r *report, rounds int) error {
	efforts := map[string][]effort{}
	for round := range rounds + 1 {
		progress("l4: %s: round %d of %d", c.name, round, rounds)
		for _, i := range rand.Perm(len(c.sides)) {
			e, err := c.measure(ctx, &c.sides[i])
			if err != nil {
				return fmt.Errorf("%s: %w", c.sides[i].name, err)
			}
			if round > 0 { // the first is to warm up
				efforts[c.sides[i].name] = append(efforts[c.sides[i].name], e)
			}
		}
	}
	for _, side := range c.sides {
		c.report(r, side.name, efforts[side.name], efforts[c.against])
	}
	return nil
}

func (c *contest) measure(ctx context.Context, side *l4Proxy) (effort, error) {
	pid := side.pid()
	if pid == 0 {
		return effort{}, errors.New("the process is not running")
	}
	before, err := cpuTime(pid)
	if err != nil {
		return effort{}, err
	}
	begin := time.Now()
	amount, err := c.load(ctx, side.port)
	elapsed := time.Since(begin)
	if err != nil {
		return effort{}, err
	}
	after, err := cpuTime(pid)
	per := func(d time.Duration) time.Duration { return time.Duration(float64(d) / amount) }
	return effort{per(after - before), per(elapsed)}, err
}

func (c *contest) report(r *report, name string, own, other []effort) {
	var cpu, rate, cpuRatio, timeRatio []float64
	for i, e := range own {
		cpu = append(cpu, float64(e.cpu)/float64(time.Microsecond)/c.scale)
		rate = append(rate, 1/e.elapsed.Seconds())
		cpuRatio = append(cpuRatio, float64(e.cpu)/float64(other[i].cpu))
		timeRatio = append(timeRatio, float64(e.elapsed)/float64(other[i].elapsed))
	}
	note := fmt.Sprintf("median of %d rounds; %s %s CPU per %s, %s per second",
		len(own), short(quantile(cpu, .5)), c.timeUnit, c.unit, short(quantile(rate, .5)))
	what, unit := fmt.Sprintf("%s, CPU per %s: %s", c.name, c.unit, name), "× "+c.against
	if name != "Fairway" || c.budget == 0 {
		r.add("l4", what, quantile(cpuRatio, .5), unit, note)
		return
	}
	r.addBudget("l4", what, quantile(cpuRatio, .5), unit, c.budget, note)
	if c.rate > 0 {
		note = "load and backend may be what limits all of them"
		r.addBudget("l4", fmt.Sprintf("%s, time for as many: %s", c.name, name), quantile(timeRatio, .5), unit, c.rate, note)
	}
}
