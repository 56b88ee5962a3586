// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// own are Fairway's own families.
type own struct {
	info        *prometheus.GaugeVec
	reloads     *prometheus.CounterVec
	failures    prometheus.Counter
	apply       prometheus.Histogram
	build       prometheus.Histogram
	propagation prometheus.Histogram
	pushed      prometheus.Histogram
	generation  prometheus.Gauge
	problems    *prometheus.GaugeVec
	hosts       prometheus.Gauge
	routes      prometheus.Gauge
	backends    prometheus.Gauge
	endpoints   prometheus.Gauge

	mu   sync.Mutex
	seen map[string]bool // reasons that problems has series of
}

func newOwn(version string) *own {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	histogram := func(name, help string, buckets ...float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	times := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
	o := &own{
		seen: map[string]bool{},
		info: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "fairway_build_info", Help: "1, with the version as label."}, []string{"version"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairway_reload_total",
			Help: "Times that the data plane read a new configuration, by reason. A change with several reasons counts for each.",
		}, []string{"reason"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "fairway_apply_failures_total", Help: "Rounds that did not bring the objects into force; each is repeated.",
		}),
		apply: histogram("fairway_push_duration_seconds",
			"Time from a finished model until the data plane obeys it, for rounds that changed something.", times...),
		build: histogram("fairway_build_duration_seconds", "Time to build the model from a snapshot.", times...),
		propagation: histogram("fairway_propagation_seconds",
			"Time from when a change of an object was seen until all workers obey it, for changes that the data plane had to be told.", times...),
		pushed: histogram("fairway_push_bytes", "Size of what was sent to the data plane as data, for rounds that sent something.",
			256, 1<<10, 4<<10, 16<<10, 64<<10, 256<<10, 1<<20, 4<<20, 16<<20),
		generation: gauge("fairway_generation", "Generation of the state that the data plane obeys."),
		problems: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "fairway_problems", Help: "What was written and can't be honoured, by reason; see `fairway get problems`.",
		}, []string{"reason"}),
		hosts:     gauge("fairway_hosts", "Hosts in force, the catch-all among them."),
		routes:    gauge("fairway_routes", "Paths in force, of all hosts together."),
		backends:  gauge("fairway_backends", "Backends in force."),
		endpoints: gauge("fairway_endpoints", "Endpoints in force, of all backends together."),
	}
	o.info.WithLabelValues(version).Set(1)
	return o
}

func (o *own) all() []prometheus.Collector {
	return []prometheus.Collector{
		o.info, o.reloads, o.failures, o.apply, o.build, o.propagation, o.pushed, o.generation, o.problems, o.hosts, o.routes, o.backends, o.endpoints,
	}
}

func (o *own) round(r *Round, now time.Time) {
	o.build.Observe(r.Built.Seconds())
	o.countProblems(r.Problems)
	if r.Err != nil {
		o.failures.Inc()
		return
	}
	if r.Change.Reload {
		for _, reason := range r.Change.Reasons {
			o.reloads.WithLabelValues(reason).Inc()
		}
	}
	if r.changed() {
		o.apply.Observe(r.Change.Took.Seconds())
		if !r.Seen.IsZero() {
			o.propagation.Observe(now.Sub(r.Seen).Seconds())
		}
	}
	if r.Change.Bytes > 0 {
		o.pushed.Observe(float64(r.Change.Bytes))
	}
	o.generation.Set(float64(r.Change.Generation))
	routes, endpoints := 0, 0
	for _, h := range r.Model.Hosts {
		routes += len(h.Matches)
	}
	for _, b := range r.Model.Backends {
		endpoints += len(b.Endpoints)
	}
	o.hosts.Set(float64(len(r.Model.Hosts)))
	o.routes.Set(float64(routes))
	o.backends.Set(float64(len(r.Model.Backends)))
	o.endpoints.Set(float64(endpoints))
}

// countProblems leaves a series at 0 when the last problem of its reason is gone, so that alerts resolve.
func (o *own) countProblems(problems map[string]int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for reason := range o.seen {
		if problems[reason] == 0 {
			o.problems.WithLabelValues(reason).Set(0)
		}
	}
	for reason, count := range problems {
		o.seen[reason] = true
		o.problems.WithLabelValues(reason).Set(float64(count))
	}
}
