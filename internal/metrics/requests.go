// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"maps"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// requests are the families of requests.
type requests struct {
	options RequestOptions
	budget  budget
	descs   []*prometheus.Desc // as requestFamilies; nil for an excluded one
	labels  prometheus.Labels

	mu         sync.Mutex // guards all below
	counters   map[model.TrafficLabels]uint64
	histograms map[model.TrafficLabels]*histograms
	accepted   []*netv1.Ingress
	alive      map[ingressName]bool // nil before the first round
	stale      bool                 // alive has to be made of accepted anew
}

// histograms are those of one set of labels, by measure.
type histograms [len(model.Traffic{}.Measures)]histogram

// histogram is a classic one, or with native buckets besides.
type histogram struct {
	sum    float64
	counts []uint64
	native prometheus.Histogram
}

// ingressName names an Ingress.
type ingressName struct{ namespace, name string }

func namesOf(ingresses []*netv1.Ingress) map[ingressName]bool {
	names := make(map[ingressName]bool, len(ingresses))
	for _, i := range ingresses {
		names[ingressName{i.Namespace, i.Name}] = true
	}
	return names
}

// newRequests takes also how many series other families have that share the budget.
func newRequests(o RequestOptions, labels prometheus.Labels, others func() int) *requests {
	r := &requests{
		options: o, labels: labels, counters: map[model.TrafficLabels]uint64{}, histograms: map[model.TrafficLabels]*histograms{},
		budget: budget{most: o.MaxSeries, others: others},
	}
	for i, f := range requestFamilies {
		var desc *prometheus.Desc
		if !o.excluded(i) {
			desc = prometheus.NewDesc(prefix+f.name, f.help, r.labelNames(), labels)
		}
		r.descs = append(r.descs, desc)
	}
	for _, m := range model.Measures() {
		if r.descs[1+int(m)] != nil {
			r.budget.perHistogram += len(o.bounds(m)) + 3 // infinity, sum and count
		}
	}
	return r
}

func (r *requests) labelNames() []string {
	names := []string{"status", "method", "path", "namespace", "ingress", "service", "canary"}
	if r.options.PerHost {
		names = append(names, "host")
	}
	return names
}

func (r *requests) labelValues(l model.TrafficLabels) []string {
	values := []string{l.Status, l.Method, clean(l.Path), l.Namespace, l.Ingress, l.Service, l.Canary}
	if r.options.PerHost {
		values = append(values, l.Host)
	}
	return values
}

// add counts what the data plane has counted. What belongs to an Ingress that is gone is left out.
func (r *requests) add(sets []model.Traffic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
	for i := range sets {
		t := &sets[i]
		if !r.isAlive(t.TrafficLabels) {
			continue
		}
		r.count(t)
		r.measure(t)
	}
}

func (r *requests) isAlive(l model.TrafficLabels) bool {
	return r.alive == nil || l.Ingress == "" || l.Ingress == model.Overflow || r.alive[ingressName{l.Namespace, l.Ingress}]
}

func (r *requests) count(t *model.Traffic) {
	labels := t.TrafficLabels
	if _, found := r.counters[labels]; !found {
		labels = r.budget.counter(labels, len(r.counters))
	}
	r.counters[labels] += t.Requests
}

func (r *requests) measure(t *model.Traffic) {
	if r.budget.perHistogram == 0 {
		return
	}
	known := func(l model.TrafficLabels) bool { return r.histograms[l] != nil }
	labels := t.TrafficLabels
	if !known(labels) {
		labels = r.budget.histogram(labels, len(r.histograms), known)
	}
	all := r.histograms[labels]
	if all == nil {
		all = r.newHistograms(labels)
		r.histograms[labels] = all
	}
	for m := range all {
		all[m].add(&t.Measures[m])
	}
}

func (r *requests) newHistograms(labels model.TrafficLabels) *histograms {
	all := &histograms{}
	for _, m := range model.Measures() {
		h := &all[m]
		h.counts = make([]uint64, len(r.options.bounds(m))+1)
		if r.descs[1+m] == nil || !r.options.native(m) {
			continue
		}
		constant := maps.Clone(r.labels)
		values := r.labelValues(labels)
		for i, name := range r.labelNames() {
			constant[name] = values[i]
		}
		h.native = prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + requestFamilies[1+m].name, Help: requestFamilies[1+m].help, ConstLabels: constant, Buckets: r.options.bounds(m),
			NativeHistogramBucketFactor: r.options.BucketFactor, NativeHistogramMaxBucketNumber: r.options.MaxBuckets,
		})
	}
	return all
}

func (h *histogram) add(d *model.Distribution) {
	if h.native != nil {
		for value, count := range d.Values {
			for range count {
				h.native.Observe(value)
			}
		}
		return
	}
	h.sum += d.Sum
	for i, n := range d.Counts {
		h.counts[i] += n
	}
}

// keep notes which Ingresses there are. The series of others go when somebody looks, so that a change costs nothing here.
func (r *requests) keep(accepted []*netv1.Ingress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepted, r.stale = accepted, true
}

// drop lets go of the series of Ingresses that are no longer there.
func (r *requests) drop() {
	if !r.stale {
		return
	}
	r.alive, r.stale = namesOf(r.accepted), false
	maps.DeleteFunc(r.counters, func(l model.TrafficLabels, _ uint64) bool { return !r.isAlive(l) })
	maps.DeleteFunc(r.histograms, func(l model.TrafficLabels, _ *histograms) bool { return !r.isAlive(l) })
}

// Describe implements prometheus.Collector.
func (r *requests) Describe(out chan<- *prometheus.Desc) {
	for _, d := range r.descs {
		if d != nil {
			out <- d
		}
	}
}

// Collect implements prometheus.Collector.
func (r *requests) Collect(out chan<- prometheus.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
	if desc := r.descs[0]; desc != nil {
		for labels, n := range r.counters {
			out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), r.labelValues(labels)...)
		}
	}
	for labels, all := range r.histograms {
		values := r.labelValues(labels)
		for m := range all {
			if desc := r.descs[1+m]; desc != nil {
				out <- all[m].metric(desc, r.options.bounds(model.Measure(m)), values)
			}
		}
	}
}

func (h *histogram) metric(desc *prometheus.Desc, bounds []float64, labels []string) prometheus.Metric {
	if h.native != nil {
		return h.native
	}
	buckets := make(map[float64]uint64, len(bounds))
	var sum uint64
	for i, b := range bounds {
		sum += h.counts[i]
		buckets[b] = sum
	}
	return prometheus.MustNewConstHistogram(desc, sum+h.counts[len(bounds)], h.sum, buckets, labels...)
}
