// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package metrics counts what the controller does, for Prometheus. In go the results of each round, out comes a handler for
// /metrics. Series are bounded: labels are reasons, of which there is a fixed list, never names of objects. Safe for concurrent use.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Metrics are the controller's own families.
type Metrics struct {
	registry   *prometheus.Registry
	reloads    *prometheus.CounterVec
	failures   prometheus.Counter
	apply      prometheus.Histogram
	build      prometheus.Histogram
	generation prometheus.Gauge
	problems   *prometheus.GaugeVec
	hosts      prometheus.Gauge
	routes     prometheus.Gauge
	backends   prometheus.Gauge
	endpoints  prometheus.Gauge

	seen map[string]bool // reasons that problems has series of; owned by who calls Round
}

// New makes the families and registers them, with those of the Go runtime and the process.
func New(version string) *Metrics {
	buckets := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		seen:     map[string]bool{},
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairway_reload_total", Help: "Times that the data plane read a new configuration, by reason. A change with several reasons counts for each.",
		}, []string{"reason"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "fairway_apply_failures_total", Help: "Rounds that did not bring the objects into force; each is repeated.",
		}),
		apply: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "fairway_push_duration_seconds", Help: "Time from a finished model until the data plane obeys it, for rounds that changed something.", Buckets: buckets,
		}),
		build: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "fairway_build_duration_seconds", Help: "Time to build the model from a snapshot.", Buckets: buckets,
		}),
		generation: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "fairway_generation", Help: "Generation of the state that the data plane obeys.",
		}),
		problems: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "fairway_problems", Help: "What was written and can't be honoured, by reason; see `fairway get problems`.",
		}, []string{"reason"}),
		hosts:     gauge("fairway_hosts", "Hosts in force, the catch-all among them."),
		routes:    gauge("fairway_routes", "Paths in force, of all hosts together."),
		backends:  gauge("fairway_backends", "Backends in force."),
		endpoints: gauge("fairway_endpoints", "Endpoints in force, of all backends together."),
	}
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "fairway_build_info", Help: "1, with the version as label."}, []string{"version"})
	info.WithLabelValues(version).Set(1)
	m.registry.MustRegister(m.reloads, m.failures, m.apply, m.build, m.generation, m.problems, m.hosts, m.routes, m.backends, m.endpoints, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

// Handler answers in the Prometheus formats.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Round notes one round of the loop: the model, how often each reason of a problem was given, the time of the build, and what came of it.
func (m *Metrics) Round(built *model.Model, problems map[string]int, took time.Duration, change model.Change, err error) {
	m.build.Observe(took.Seconds())
	m.countProblems(problems)
	if err != nil {
		m.failures.Inc()
		return
	}
	if change.Reload {
		for _, reason := range change.Reasons {
			m.reloads.WithLabelValues(reason).Inc()
		}
	}
	if change.Reload || change.Set+change.Deleted > 0 {
		m.apply.Observe(change.Took.Seconds())
	}
	m.generation.Set(float64(change.Generation))
	routes, endpoints := 0, 0
	for _, h := range built.Hosts {
		routes += len(h.Matches)
	}
	for _, b := range built.Backends {
		endpoints += len(b.Endpoints)
	}
	m.hosts.Set(float64(len(built.Hosts)))
	m.routes.Set(float64(routes))
	m.backends.Set(float64(len(built.Backends)))
	m.endpoints.Set(float64(endpoints))
}

// countProblems leaves a series at 0 when the last problem of its reason is gone, so that alerts resolve.
func (m *Metrics) countProblems(problems map[string]int) {
	for reason := range m.seen {
		if problems[reason] == 0 {
			m.problems.WithLabelValues(reason).Set(0)
		}
	}
	for reason, count := range problems {
		m.seen[reason] = true
		m.problems.WithLabelValues(reason).Set(float64(count))
	}
}
