// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// prefix begins the names of the predecessor's families.
const prefix = "nginx_ingress_controller_"

// predecessor are its families, except those of the packages that register theirs: admission and election.
type predecessor struct {
	metrics      *Metrics
	info         *prometheus.GaugeVec
	hash         prometheus.GaugeFunc
	successful   prometheus.Gauge
	at           prometheus.Gauge
	successes    prometheus.Counter
	errors       prometheus.Counter
	requests     *requests
	orphans      *orphans
	certificates *certificates
	admission    *Admission // nil without the webhook

	mu     sync.Mutex
	failed bool // the last round
}

func newPredecessor(m *Metrics) *predecessor {
	labels := m.options.labels()
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help, ConstLabels: labels})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help, ConstLabels: labels})
	}
	p := &predecessor{
		metrics: m,
		info: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "build_info", Help: "1, with labels that describe the build.", ConstLabels: labels,
		}, []string{"release", "build", "repository"}),
		successful:   gauge("config_last_reload_successful", "1 when the last change is in force, 0 when it failed."),
		at:           gauge("config_last_reload_successful_timestamp_seconds", "When nginx last read a new configuration with success, in Unix seconds."),
		successes:    counter("success", "Successful reloads. Changes that went to nginx as data are none."),
		errors:       counter("errors", "Attempts to bring a change into force that failed."),
		orphans:      newOrphans(labels),
		certificates: newCertificates(m.options),
	}
	p.requests = newRequests(*m.options.Requests, labels, func() int { return p.certificates.count() + p.orphans.count() + p.admission.series() })
	p.hash = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: prefix + "config_hash", Help: "Hash of the running nginx.conf as a number, 0 when the last change failed.", ConstLabels: labels,
	}, p.hashOf)
	p.info.WithLabelValues(m.options.Version, m.options.Revision, m.options.Repository).Set(1)
	return p
}

func (p *predecessor) all() []prometheus.Collector {
	list := []prometheus.Collector{p.info, p.hash, p.successful, p.at, p.successes, p.errors, p.requests, p.orphans, p.certificates}
	if p.metrics.options.Usage != nil {
		list = append(list, newStatus(p.metrics))
	}
	if p.metrics.options.Master != nil {
		list = append(list, newProcesses(p.metrics.options))
	}
	return list
}

func (p *predecessor) round(r *Round, now time.Time) {
	p.mu.Lock()
	p.failed = r.Err != nil
	p.mu.Unlock()
	if r.Err != nil {
		p.errors.Inc()
		p.successful.Set(0)
		return
	}
	p.successful.Set(1)
	if r.Change.Reload {
		p.successes.Inc()
		p.at.Set(float64(now.Unix()))
	}
	p.requests.keep(r.Accepted)
	p.orphans.note(r)
	p.certificates.note(r.Model)
}

// hashDigits are as many hexadecimal digits as a float64 holds exactly.
const hashDigits = 13

func (p *predecessor) hashOf() float64 {
	p.mu.Lock()
	failed := p.failed
	p.mu.Unlock()
	usage, _ := p.metrics.lastUsage()
	if failed || len(usage.Configuration) < hashDigits {
		return 0
	}
	hash, err := strconv.ParseUint(usage.Configuration[:hashDigits], 16, 64)
	if err != nil {
		return 0
	}
	return float64(hash)
}
