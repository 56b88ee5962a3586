// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Options are where the numbers come from and how they are labelled. Functions may be nil: then their families are not there.
type Options struct {
	// Version, Revision (of the source, in its version control; empty when unknown) and Repository describe the build.
	Version, Revision, Repository string
	// Namespace, Class and Pod are the labels controller_namespace, controller_class and controller_pod of the predecessor's families.
	Namespace, Class, Pod string
	// Requests says how requests are counted; nil leaves out all of the predecessor's families.
	Requests *RequestOptions
	// Traffic gives what the data plane counted of requests since it was last asked.
	Traffic func(context.Context) ([]model.Traffic, error)
	// Usage asks the data plane what it uses.
	Usage func(context.Context) (model.Usage, error)
	// Health asks what is known of endpoints that are judged.
	Health func(context.Context) (model.HealthReport, error)
	// Master gives the process ID of nginx' master, 0 when it is not running.
	Master func() int
	// Leads tells whether this replica is the one that reports what all of them see, the expiry of certificates; nil is
	// what Leadership is told, and always where nobody is elected.
	Leads func() bool
	// Fallback is the certificate for names that have none; nil for none.
	Fallback *model.Certificate
	// Log gets what goes wrong while numbers are fetched; nil is nowhere.
	Log *slog.Logger
}

// Metrics are all families.
type Metrics struct {
	options  Options
	registry *prometheus.Registry
	own      *own
	old      *predecessor // nil without Options.Requests

	leadership leadership

	mu     sync.Mutex // guards all below
	usage  model.Usage
	fresh  bool // usage is of now
	health model.HealthReport
}

// New makes the families and registers them, with those of the Go runtime and the process.
func New(options Options) *Metrics {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	m := &Metrics{options: options, registry: prometheus.NewRegistry(), own: newOwn(options.Version)}
	if options.Leads == nil {
		m.options.Leads = m.leadership.reports
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.own.all()...)
	if options.Usage != nil {
		m.registry.MustRegister(usageFamilies{m})
	}
	if options.Health != nil {
		m.registry.MustRegister(healthFamilies{m})
	}
	if options.Requests != nil {
		m.old = newPredecessor(m)
		m.registry.MustRegister(m.old.all()...)
	}
	return m
}

// Register adds families that another package counts.
func (m *Metrics) Register(list ...prometheus.Collector) { m.registry.MustRegister(list...) }

// Predecessor tells whether its families are asked for, and gives the labels that nearly all of them have.
func (m *Metrics) Predecessor() (labels prometheus.Labels, enabled bool) {
	return m.options.labels(), m.options.Requests != nil
}

func (o Options) labels() prometheus.Labels {
	return prometheus.Labels{"controller_namespace": o.Namespace, "controller_class": o.Class, "controller_pod": o.Pod}
}

// Gatherer gives all families as they are, without asking the data plane.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// patience is how long a scrape waits for the data plane.
const patience = 2 * time.Second

// Handler answers in the Prometheus formats.
func (m *Metrics) Handler() http.Handler {
	answer := promhttp.InstrumentMetricHandler(m.registry, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		m.fetch(ctx)
		answer.ServeHTTP(w, r)
	})
}

// fetchEvery keeps what the data plane has to remember short when nobody scrapes.
const fetchEvery = 10 * time.Second

// Run fetches what the data plane counts, until ctx ends.
func (m *Metrics) Run(ctx context.Context) {
	if m.options.Traffic == nil || m.old == nil {
		return
	}
	ticker := time.NewTicker(fetchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.fetchTraffic(ctx)
		}
	}
}

func (m *Metrics) fetch(ctx context.Context) {
	m.fetchTraffic(ctx)
	m.fetchHealth(ctx)
	if m.options.Usage == nil {
		return
	}
	usage, err := m.options.Usage(ctx)
	if err != nil {
		m.options.Log.Debug("nginx does not say what it uses", "err", err)
	}
	m.mu.Lock()
	m.usage, m.fresh = usage, err == nil
	m.mu.Unlock()
}

func (m *Metrics) fetchTraffic(ctx context.Context) {
	if m.options.Traffic == nil || m.old == nil {
		return
	}
	sets, err := m.options.Traffic(ctx)
	if err != nil {
		m.options.Log.Debug("nginx does not say what it counted", "err", err)
	}
	m.old.requests.add(sets)
}

// lastUsage gives what the data plane uses, and whether that is known.
func (m *Metrics) lastUsage() (model.Usage, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage, m.fresh
}
