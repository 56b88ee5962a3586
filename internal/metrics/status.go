// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/prometheus/client_golang/prometheus"

// status are the families of nginx' own status.
type status struct {
	metrics                       *Metrics
	connections, total, requested *prometheus.Desc
}

func newStatus(m *Metrics) *status {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+"nginx_process_"+name, help, labels, m.options.labels())
	}
	return &status{
		metrics:     m,
		connections: desc("connections", "Connections of clients now, by state.", "state"),
		total:       desc("connections_total", "Connections of clients since nginx started, by what became of them.", "state"),
		requested:   desc("requests_total", "All requests since nginx started, those of the controller among them."),
	}
}

// Describe implements prometheus.Collector.
func (s *status) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.connections, s.total, s.requested} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (s *status) Collect(out chan<- prometheus.Metric) {
	u, known := s.metrics.lastUsage()
	if !known {
		return
	}
	c := u.Connections
	for state, value := range map[string]int64{"active": c.Active, "reading": c.Reading, "writing": c.Writing, "waiting": c.Waiting} {
		out <- prometheus.MustNewConstMetric(s.connections, prometheus.GaugeValue, float64(value), state)
	}
	out <- prometheus.MustNewConstMetric(s.total, prometheus.CounterValue, float64(c.Accepted), "accepted")
	out <- prometheus.MustNewConstMetric(s.total, prometheus.CounterValue, float64(c.Handled), "handled")
	out <- prometheus.MustNewConstMetric(s.requested, prometheus.CounterValue, float64(c.Requests))
}
