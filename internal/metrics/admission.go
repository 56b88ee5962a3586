// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Admission are the families of the admission webhook, under the predecessor's names.
type Admission struct {
	tested, rendered, size              prometheus.Gauge
	testedTime, renderedTime, roundtrip prometheus.Gauge
	success, failure                    *bounded
}

// mostReviewed bounds the series of check_success and of check_errors, one for each Ingress.
const mostReviewed = 1000

// Admission makes the families of the webhook and registers them, or gives nil where the predecessor's families are not asked for. It is to be called once at
// most, before anything is counted.
func (m *Metrics) Admission() *Admission {
	labels, enabled := m.Predecessor()
	if !enabled {
		return nil
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + "admission_" + name, Help: help, ConstLabels: labels})
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help, ConstLabels: labels}, []string{"namespace", "ingress"})
	}
	success := counter("check_success", "Reviews of the admission webhook that accepted the Ingress.")
	failure := counter("check_errors", "Reviews of the admission webhook that refused the Ingress.")
	a := &Admission{
		tested:       gauge("tested_ingresses", "Ingresses that the last accepted one was judged with, itself among them."),
		testedTime:   gauge("tested_duration", "Seconds that judging the last accepted Ingress took."),
		rendered:     gauge("render_ingresses", "Ingresses that the last accepted one was judged with, itself among them."),
		renderedTime: gauge("render_duration", "Seconds that reading the last accepted Ingress took, waiting for its turn included."),
		size:         gauge("config_size", "Bytes of the review of the last accepted Ingress; no configuration is rendered."),
		roundtrip:    gauge("roundtrip_duration", "Seconds that the whole review of the last accepted Ingress took."),
		success:      &bounded{CounterVec: success}, failure: &bounded{CounterVec: failure},
	}
	m.Register(a.tested, a.testedTime, a.rendered, a.renderedTime, a.size, a.roundtrip, success, failure)
	m.old.admission = a
	return a
}

// series is how many there are, but for single gauges.
func (a *Admission) series() int {
	if a == nil {
		return 0
	}
	return a.success.series() + a.failure.series()
}

// Review is what the webhook did with one Ingress.
type Review struct {
	Namespace, Ingress string
	Accepted           bool
	// Judged is the number of Ingresses that were looked at, Bytes the size of the request.
	Judged, Bytes int
	// The times of reading the object, of judging it and of all.
	Reading, Judging, Whole time.Duration
}

// Review notes a review.
func (a *Admission) Review(r Review) {
	if !r.Accepted {
		a.failure.inc(r.Namespace, r.Ingress)
		return
	}
	a.success.inc(r.Namespace, r.Ingress)
	a.tested.Set(float64(r.Judged))
	a.rendered.Set(float64(r.Judged))
	a.size.Set(float64(r.Bytes))
	a.renderedTime.Set(r.Reading.Seconds())
	a.testedTime.Set(r.Judging.Seconds())
	a.roundtrip.Set(r.Whole.Seconds())
}
