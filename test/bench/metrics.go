// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// recordingBudget is how much CPU time counting a request may take, in µs.
const recordingBudget = 0.5

// measureMetrics compares two Fairways that differ in nothing but whether they count requests. Rounds are short and paired, the order by chance, and
// the figure is the median of the differences within pairs, so that a noisy neighbour disturbs both sides alike.
func measureMetrics(ctx context.Context, s settings, r *report) error {
	pairs, length := 30, 3*time.Second
	if s.quick {
		pairs, length = 12, 2*time.Second
	}
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
	sides, err := startCounting(dir)
	for _, side := range sides {
		defer side.stop()
	}
	if err != nil {
		return err
	}
	script := filepath.Join(dir, "hosts.lua")
	if err := os.WriteFile(script, []byte(wrkScript(100)), 0o644); err != nil {
		return err
	}
	var cost [2][]float64
	var differences []float64
	for pair := range pairs + 1 {
		progress("metrics: pair %d of %d", pair, pairs)
		var costs [2]float64
		for _, i := range rand.Perm(2) {
			if costs[i], err = sides[i].round(ctx, script, length); err != nil {
				return fmt.Errorf("%s: %w", sides[i].name, err)
			}
		}
		if pair == 0 {
			continue // to warm up
		}
		differences = append(differences, costs[1]-costs[0])
		cost[0], cost[1] = append(cost[0], costs[0]), append(cost[1], costs[1])
	}
	note := fmt.Sprintf("median of %d pairs, quartiles %s and %s; medians %s and %s µs per request",
		pairs, short(quantile(differences, .25)), short(quantile(differences, .75)), short(quantile(cost[0], .5)), short(quantile(cost[1], .5)))
	r.addBudget("metrics", "CPU per request, counting on less counting off, 100 hosts, access log off", quantile(differences, .5), "µs", recordingBudget, note)
	took, err := recordRepeatedly(ctx, dir)
	if err != nil {
		return fmt.Errorf("repeat the recording: %w", err)
	}
	r.addBudget("metrics", "CPU to count a request, repeated at the end of one", took, "µs", recordingBudget, "median of 15 times 100,000")
	return nil
}

// startCounting starts a Fairway that counts nothing and one that counts everything.
func startCounting(dir string) ([]*proxy, error) {
	ports, err := freePorts(4)
	if err != nil {
		return nil, err
	}
	var sides []*proxy
	for i, name := range []string{"metrics off", "metrics on"} {
		options := metrics.DefaultRequestOptions().Traffic()
		if i == 0 {
			options = nil
		}
		ways, err := startFairway(filepath.Join(dir, fmt.Sprint("fairway", i)), ports[2*i], 100, nil, options)
		if err != nil {
			return sides, err
		}
		ways[0].name = name
		sides = append(sides, ways[0])
	}
	return sides, nil
}
