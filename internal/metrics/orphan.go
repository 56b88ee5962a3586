// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairway-ingress/fairway/internal/model"
)

// orphans are Ingresses with a rule whose Service is missing or has no usable endpoint. One that was an orphan has series, which fall to 0 when
// it recovers and go when it is gone.
type orphans struct {
	desc *prometheus.Desc

	mu     sync.Mutex
	values map[orphan]float64
}

type orphan struct{ namespace, ingress, kind string }

func newOrphans(labels prometheus.Labels) *orphans {
	return &orphans{values: map[orphan]float64{}, desc: prometheus.NewDesc(prefix+"orphan_ingress",
		"1 when a rule's Service is missing or has no usable endpoint, by type; 0 when that is over.", []string{"namespace", "ingress", "type"}, labels)}
}

// orphanKind gives the type of a problem of a rule, "" for others.
func orphanKind(p *model.Problem) string {
	if p.Object.Kind != "Ingress" || !strings.HasPrefix(p.Field, "spec.rules") {
		return ""
	}
	switch p.Reason {
	case model.ReasonMissingService:
		return "no-service"
	case model.ReasonNoEndpoints, model.ReasonMissingPort:
		return "no-endpoint"
	}
	return ""
}

func (o *orphans) note(r *Round) {
	now := map[orphan]float64{}
	for i := range r.Model.Problems {
		p := &r.Model.Problems[i]
		if kind := orphanKind(p); kind != "" {
			now[orphan{p.Object.Namespace, p.Object.Name, kind}] = 1
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	recovered := map[ingressName]bool{} // those to be found among the Ingresses that are left
	for key := range o.values {
		if now[key] == 0 {
			recovered[ingressName{key.namespace, key.ingress}] = true
		}
	}
	if len(recovered) > 0 {
		alive := namesOf(r.Accepted)
		for key := range o.values {
			if now[key] == 0 && alive[ingressName{key.namespace, key.ingress}] {
				now[key] = 0
			}
		}
	}
	o.values = now
}

func (o *orphans) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.values)
}

// Describe implements prometheus.Collector.
func (o *orphans) Describe(out chan<- *prometheus.Desc) { out <- o.desc }

// Collect implements prometheus.Collector.
func (o *orphans) Collect(out chan<- prometheus.Metric) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, value := range o.values {
		out <- prometheus.MustNewConstMetric(o.desc, prometheus.GaugeValue, value, key.namespace, key.ingress, key.kind)
	}
}
