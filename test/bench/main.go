// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what users buy: CPU time per request, how soon a change is obeyed, memory, and that nothing is lost while things
// change. It prints a table in Markdown and writes JSON. Peers run in the same run, so that figures can be compared on any machine;
// budgets stand beside the figures and are never a failure.
//
// Sections: requests.go (a), metrics.go, balancers.go, propagation.go (b, c), churn.go (d), admission.go (e), l4.go, kong.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

const usage = `usage: go run ./test/bench [flags]

Sections, chosen with --only:
  requests      CPU time per proxied request: static nginx, HAProxy, Fairway
  balancers     CPU time per request of each way to balance beside round robin
  metrics       CPU time to count a request, as the difference of two Fairways
  propagation   API write to first request that obeys it, memory, cold start, on a real API server (root)
  churn         failed requests and dropped WebSockets while things change, on a real API server (root)
  l4            TCP and UDP services beside nginx' stream module and HAProxy, TLS passthrough
  kong          what a change costs the controller of Kong Gateways, before anything is sent
  admission     latency of the admission webhook with 150 reviews at once, with the Ingresses of a real API server (root)

`

// settings are the flags.
type settings struct {
	quick bool
	only  string
	json  string
}

func main() {
	var s settings
	flag.BoolVar(&s.quick, "quick", false, "fewer rounds and smaller clusters: some three minutes")
	flag.StringVar(&s.only, "only", "requests,balancers,metrics,l4,kong,propagation,churn,admission", "sections, separated by commas")
	flag.StringVar(&s.json, "json", "bin/bench.json", "file for the results")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage); flag.PrintDefaults() }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	var r report
	sections := map[string]func(context.Context, settings, *report) error{
		"requests": measureRequests, "balancers": measureBalancers, "propagation": measurePropagation, "churn": measureChurn, "metrics": measureMetrics, "admission": measureAdmission,
		"l4": measureL4, "kong": measureKong,
	}
	for _, name := range strings.Split(s.only, ",") {
		measure, found := sections[name]
		if !found {
			return fmt.Errorf("--only names %q; sections are requests, balancers, metrics, l4, kong, propagation, churn and admission", name)
		}
		begin := time.Now()
		progress("%s …", name)
		if err := measure(ctx, s, &r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		progress("%s took %s", name, time.Since(begin).Round(time.Second))
	}
	r.print(os.Stdout)
	return r.write(s.json)
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }
