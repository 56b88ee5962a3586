// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Leadership makes the predecessor's family that tells who leads, and gives the function that sets it. As there, a replica that has never led has
// no series. The labels are those that all of the predecessor's families have; election is the name of the Lease.
func (m *Metrics) Leadership(labels prometheus.Labels, election string) func(leading bool) {
	status := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "nginx_ingress_controller_leader_election_status", ConstLabels: labels,
		Help: "1 on the replica that leads, 0 on one that has led and no longer does.",
	}, []string{"name"})
	m.registry.MustRegister(status)
	led := false
	return func(leading bool) {
		switch {
		case leading:
			led = true
			status.WithLabelValues(election).Set(1)
		case led:
			status.WithLabelValues(election).Set(0)
		}
	}
}

// StatusWrites makes the families about the status of Ingresses, and gives the function that counts a write.
func (m *Metrics) StatusWrites(contested func() int) func(error) {
	writes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fairway_status_writes_total", Help: "Writes of status.loadBalancer of Ingresses, by result: ok or error.",
	}, []string{"result"})
	m.registry.MustRegister(writes, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
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
