// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairway-ingress/fairway/internal/model"
)

// mostOut bounds the series of fairway_health_endpoints_out; endpoints of further backends are counted together.
const mostOut = 1000

// healthFamilies say what checks and failed requests tell of endpoints.
type healthFamilies struct{ metrics *Metrics }

var (
	checksDesc    = prometheus.NewDesc("fairway_health_checks_total", "Checks of endpoints, by what came of them.", []string{"result"}, nil)
	ejectionsDesc = prometheus.NewDesc("fairway_health_ejections_total", "Ejections of endpoints that failed requests.", nil, nil)
	outDesc       = prometheus.NewDesc("fairway_health_endpoints_out",
		"Endpoints that are to get no requests, by why: unhealthy by checks, ejected by failed requests. Backends without such have no series.",
		[]string{"namespace", "service", "port", "state"}, nil)
)

// Describe implements prometheus.Collector.
func (healthFamilies) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{checksDesc, ejectionsDesc, outDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (f healthFamilies) Collect(out chan<- prometheus.Metric) {
	f.metrics.mu.Lock()
	report := f.metrics.health
	f.metrics.mu.Unlock()
	out <- prometheus.MustNewConstMetric(checksDesc, prometheus.CounterValue, float64(report.ChecksPassed), "passed")
	out <- prometheus.MustNewConstMetric(checksDesc, prometheus.CounterValue, float64(report.ChecksFailed), "failed")
	out <- prometheus.MustNewConstMetric(ejectionsDesc, prometheus.CounterValue, float64(report.Ejections))
	for labels, count := range countOut(report.Out) {
		out <- prometheus.MustNewConstMetric(outDesc, prometheus.GaugeValue, float64(count), labels[:]...)
	}
}

// countOut counts endpoints by namespace, service, port and state.
func countOut(list []model.EndpointHealth) map[[4]string]int {
	counts := map[[4]string]int{}
	for _, e := range list {
		labels := [4]string{e.Backend.Namespace, e.Backend.Service, e.Backend.Port, e.State.String()}
		if _, known := counts[labels]; !known && len(counts) >= mostOut {
			labels = [4]string{model.Overflow, model.Overflow, model.Overflow, e.State.String()}
		}
		counts[labels]++
	}
	return counts
}

// fetchHealth keeps the last report when there is no answer.
func (m *Metrics) fetchHealth(ctx context.Context) {
	if m.options.Health == nil {
		return
	}
	report, err := m.options.Health(ctx)
	if err != nil {
		m.options.Log.Debug("nothing is known of the endpoints' health", "err", err)
		return
	}
	m.mu.Lock()
	m.health = report
	m.mu.Unlock()
}
