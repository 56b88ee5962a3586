// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// leadership is whether this replica leads. Where nobody is elected, each reports for itself.
type leadership struct{ elects, leads atomic.Bool }

// reports tells whether this replica reports what all of them see.
func (l *leadership) reports() bool { return !l.elects.Load() || l.leads.Load() }

// Leadership makes the predecessor's family that tells who leads, if its families are asked for, and gives the function that sets it. As there,
// a replica that has never led has no series. The label is the name of the Lease.
func (m *Metrics) Leadership(election string) func(leading bool) {
	m.leadership.elects.Store(true)
	labels, enabled := m.Predecessor()
	status := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: prefix + "leader_election_status", ConstLabels: labels, Help: "1 on the replica that leads, 0 on one that has led and no longer does.",
	}, []string{"name"})
	if enabled {
		m.Register(status)
	}
	return func(leading bool) {
		m.leadership.leads.Store(leading)
		value := 0.0
		if leading {
			value = 1
		}
		status.WithLabelValues(election).Set(value)
	}
}

// StatusWrites makes the families about the status of Ingresses, and gives the function that counts a write.
func (m *Metrics) StatusWrites(contested func() int) func(error) {
	writes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fairway_status_writes_total", Help: "Writes of status.loadBalancer of Ingresses, by result: ok or error.",
	}, []string{"result"})
	m.Register(writes, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fairway_status_contested", Help: "Ingresses whose status is left to another controller that keeps writing other addresses.",
	}, func() float64 { return float64(contested()) }))
	return func(err error) {
		if err != nil {
			writes.WithLabelValues("error").Inc()
			return
		}
		writes.WithLabelValues("ok").Inc()
	}
}
