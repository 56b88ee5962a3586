// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// KongPush is an attempt to bring a state into force on one Kong Gateway; one without requests found it there already.
type KongPush struct {
	// Gateway is the address of its Admin API; Protocol is "deck" where entities are written to a database, else "db-less".
	Gateway, Protocol string
	Took              time.Duration
	// Bytes is what was sent, Requests in how many requests. Broken counts the entities that are not in force as written, Refused does so by kind.
	Bytes, Requests, Broken int
	Refused                 map[string]int
	// Fallback is set for a push without what the gateway refuses.
	Fallback bool
	// Reason is "conflict", "network" or "other" when not all was taken; Failed is set when the push has to be repeated.
	Reason string
	Failed bool
	// Hash names what the gateway holds; empty where it does not say.
	Hash string
}

// Kong are the families about Kong Gateways. Those that begin with ingress_controller_ have the names and labels of the Kong Ingress Controller.
type Kong struct {
	// main are of all that is wanted, fallback of what is left without what is refused.
	main, fallback *kongFamilies
	instance       string

	pushes         *prometheus.CounterVec
	duration       *prometheus.HistogramVec
	refused        *prometheus.GaugeVec
	requests, hash *prometheus.GaugeVec
}

// kongFamilies are those that the Kong Ingress Controller has twice.
type kongFamilies struct {
	count                *prometheus.CounterVec
	broken, size, last   *prometheus.GaugeVec
	duration             *prometheus.HistogramVec
	translations         *prometheus.CounterVec
	translationsBroken   prometheus.Gauge
	translationsDuration *prometheus.HistogramVec
}

// NewKong makes the families; instance tells replicas apart.
func NewKong(instance string) *Kong {
	return &Kong{
		instance: instance,
		main:     newKongFamilies("ingress_controller_", instance, "all that is wanted"),
		fallback: newKongFamilies("ingress_controller_fallback_", instance, "what is left without what is refused"),
		pushes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairway_kong_pushes_total", Help: "Pushes to a gateway: complete, partial (something is refused), failed.",
		}, []string{"gateway", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fairway_kong_push_duration_seconds", Help: "How long pushes to a gateway took.", Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 12),
		}, []string{"gateway"}),
		refused:  kongGauges("fairway_kong_refused_entities", "Entities that are not in force as written at a gateway, by kind.", "gateway", "entity"),
		requests: kongGauges("fairway_kong_push_requests", "Requests of the last push that had any.", "gateway"),
		hash: kongGauges("fairway_kong_configuration_info", "1, with the hash of the last good configuration of a gateway without a database.",
			"gateway", "hash"),
	}
}

func kongGauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func newKongFamilies(prefix, instance, what string) *kongFamilies {
	milliseconds := prometheus.ExponentialBuckets(1, 2.5, 12)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: milliseconds}, labels)
	}
	return &kongFamilies{
		count: counter("configuration_push_count", "Pushes of "+what+" to gateways, by outcome.",
			"success", "protocol", "failure_reason", "dataplane", "instance_id"),
		broken: kongGauges(prefix+"configuration_push_broken_resource_count", "Entities that the gateway refused in the last push of "+what+".",
			"dataplane", "instance_id"),
		size: kongGauges(prefix+"configuration_push_size", "Bytes of the last push of "+what+".", "dataplane", "instance_id"),
		last: kongGauges(prefix+"configuration_push_last_successful", "When the last push of "+what+" succeeded, in Unix seconds.",
			"dataplane", "instance_id"),
		duration: histogram("configuration_push_duration_milliseconds", "How long pushes of "+what+" took.",
			"success", "protocol", "dataplane", "instance_id"),
		translations: counter("translation_count", "Translations of objects into "+what+".", "success", "instance_id"),
		translationsBroken: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: prefix + "translation_broken_resource_count", Help: "Problems that the last translation into " + what + " found.",
			ConstLabels: prometheus.Labels{"instance_id": instance},
		}),
		translationsDuration: histogram("translation_duration_milliseconds", "How long translations into "+what+" took.", "success", "instance_id"),
	}
}

func (f *kongFamilies) collectors() []prometheus.Collector {
	return []prometheus.Collector{f.count, f.broken, f.size, f.last, f.duration, f.translations, f.translationsBroken, f.translationsDuration}
}

// Collectors lists the families.
func (k *Kong) Collectors() []prometheus.Collector {
	return append(append(k.main.collectors(), k.fallback.collectors()...), k.pushes, k.duration, k.refused, k.requests, k.hash)
}

// Translated counts a translation that found so many Problems.
func (k *Kong) Translated(problems int, took time.Duration) {
	k.main.translated(problems, took, k.instance)
}

// FellBack counts a state that was made without so many entities that are refused.
func (k *Kong) FellBack(refused int, took time.Duration) {
	k.fallback.translated(0, took, k.instance)
	k.fallback.translationsBroken.Set(float64(refused))
}

func (f *kongFamilies) translated(problems int, took time.Duration, instance string) {
	success := strconv.FormatBool(problems == 0)
	f.translations.WithLabelValues(success, instance).Inc()
	f.translationsBroken.Set(float64(problems))
	f.translationsDuration.WithLabelValues(success, instance).Observe(milliseconds(took))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Pushed counts a push.
func (k *Kong) Pushed(p KongPush, now time.Time) {
	if p.Hash != "" {
		k.hash.DeletePartialMatch(prometheus.Labels{"gateway": p.Gateway})
		k.hash.WithLabelValues(p.Gateway, p.Hash).Set(1)
	}
	if !p.Failed {
		k.refused.DeletePartialMatch(prometheus.Labels{"gateway": p.Gateway})
		for kind, n := range p.Refused {
			k.refused.WithLabelValues(p.Gateway, kind).Set(float64(n))
		}
	}
	if p.Requests == 0 && !p.Failed {
		return
	}
	result := "complete"
	switch {
	case p.Failed:
		result = "failed"
	case p.Broken > 0:
		result = "partial"
	}
	k.pushes.WithLabelValues(p.Gateway, result).Inc()
	k.duration.WithLabelValues(p.Gateway).Observe(p.Took.Seconds())
	if p.Requests > 0 {
		k.requests.WithLabelValues(p.Gateway).Set(float64(p.Requests))
	}
	families := k.main
	if p.Fallback {
		families = k.fallback
	}
	families.pushed(p, k.instance, now)
}

func (f *kongFamilies) pushed(p KongPush, instance string, now time.Time) {
	success := strconv.FormatBool(p.Reason == "")
	f.count.WithLabelValues(success, p.Protocol, p.Reason, p.Gateway, instance).Inc()
	f.duration.WithLabelValues(success, p.Protocol, p.Gateway, instance).Observe(milliseconds(p.Took))
	f.broken.WithLabelValues(p.Gateway, instance).Set(float64(p.Broken))
	f.size.WithLabelValues(p.Gateway, instance).Set(float64(p.Bytes))
	if p.Reason == "" {
		f.last.WithLabelValues(p.Gateway, instance).Set(float64(now.Unix()))
	}
}

// Gone drops the series of a gateway that is no longer there.
func (k *Kong) Gone(gateway string) {
	for _, f := range []*kongFamilies{k.main, k.fallback} {
		of := prometheus.Labels{"dataplane": gateway}
		f.count.DeletePartialMatch(of)
		f.duration.DeletePartialMatch(of)
		for _, gauges := range []*prometheus.GaugeVec{f.broken, f.size, f.last} {
			gauges.DeletePartialMatch(of)
		}
	}
	of := prometheus.Labels{"gateway": gateway}
	k.pushes.DeletePartialMatch(of)
	k.duration.DeletePartialMatch(of)
	for _, gauges := range []*prometheus.GaugeVec{k.refused, k.requests, k.hash} {
		gauges.DeletePartialMatch(of)
	}
}
