// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// KongPush is an attempt to bring a state into force on one Kong Gateway.
type KongPush struct {
	// Gateway is the address of its Admin API; Protocol is "deck" where entities are written to a database, else "db-less".
	Gateway, Protocol string
	Took              time.Duration
	// Bytes is what was sent, Requests in how many requests, Broken the number of entities that were refused.
	Bytes, Requests, Broken int
	// Reason is "conflict", "network" or "other" when it failed.
	Reason string
	// Hash names what the gateway holds; empty where it does not say.
	Hash   string
	Failed bool
}

// Kong are the families about Kong Gateways. Those that begin with ingress_controller_ have the names and labels of the Kong Ingress Controller.
type Kong struct {
	instance             string
	count                *prometheus.CounterVec
	broken, size         *prometheus.GaugeVec
	last                 *prometheus.GaugeVec
	duration             *prometheus.HistogramVec
	requests, hash       *prometheus.GaugeVec
	translations         *prometheus.CounterVec
	translationsBroken   prometheus.Gauge
	translationsDuration *prometheus.HistogramVec
}

// NewKong makes the families; instance tells replicas apart.
func NewKong(instance string) *Kong {
	const old = "ingress_controller_"
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	milliseconds := prometheus.ExponentialBuckets(1, 2.5, 12)
	return &Kong{
		instance: instance,
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: old + "configuration_push_count", Help: "Pushes to gateways, by outcome.",
		}, []string{"success", "protocol", "failure_reason", "dataplane", "instance_id"}),
		broken: gauges(old+"configuration_push_broken_resource_count", "Entities that the last push left out, because the gateway refuses them.",
			"dataplane", "instance_id"),
		size: gauges(old+"configuration_push_size", "Bytes of the last push.", "dataplane", "instance_id"),
		last: gauges(old+"configuration_push_last_successful", "When the last push succeeded, in Unix seconds.", "dataplane", "instance_id"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: old + "configuration_push_duration_milliseconds", Help: "How long pushes took.", Buckets: milliseconds,
		}, []string{"success", "protocol", "dataplane", "instance_id"}),
		translations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: old + "translation_count", Help: "Translations of objects into what a gateway is to hold.",
		}, []string{"success", "instance_id"}),
		translationsBroken: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: old + "translation_broken_resource_count", Help: "Problems that the last translation found.", ConstLabels: prometheus.Labels{"instance_id": instance},
		}),
		translationsDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: old + "translation_duration_milliseconds", Help: "How long translations took.", Buckets: milliseconds,
		}, []string{"success", "instance_id"}),
		requests: gauges("fairway_kong_push_requests", "Requests of the last push that had any.", "gateway"),
		hash:     gauges("fairway_kong_configuration_info", "1, with the hash of what the gateway without a database holds.", "gateway", "hash"),
	}
}

// Collectors lists the families.
func (k *Kong) Collectors() []prometheus.Collector {
	return []prometheus.Collector{
		k.count, k.broken, k.size, k.last, k.duration, k.requests, k.hash, k.translations, k.translationsBroken, k.translationsDuration,
	}
}

// Translated counts a translation that found so many Problems.
func (k *Kong) Translated(problems int, took time.Duration) {
	success := strconv.FormatBool(problems == 0)
	k.translations.WithLabelValues(success, k.instance).Inc()
	k.translationsBroken.Set(float64(problems))
	k.translationsDuration.WithLabelValues(success, k.instance).Observe(float64(took.Microseconds()) / 1000)
}

// Pushed counts a push.
func (k *Kong) Pushed(p KongPush, now time.Time) {
	success := strconv.FormatBool(!p.Failed)
	k.count.WithLabelValues(success, p.Protocol, p.Reason, p.Gateway, k.instance).Inc()
	k.duration.WithLabelValues(success, p.Protocol, p.Gateway, k.instance).Observe(float64(p.Took.Microseconds()) / 1000)
	k.broken.WithLabelValues(p.Gateway, k.instance).Set(float64(p.Broken))
	k.size.WithLabelValues(p.Gateway, k.instance).Set(float64(p.Bytes))
	if p.Requests > 0 {
		k.requests.WithLabelValues(p.Gateway).Set(float64(p.Requests))
	}
	if p.Failed {
		return
	}
	k.last.WithLabelValues(p.Gateway, k.instance).Set(float64(now.Unix()))
	if p.Hash != "" {
		k.hash.DeletePartialMatch(prometheus.Labels{"gateway": p.Gateway})
		k.hash.WithLabelValues(p.Gateway, p.Hash).Set(1)
	}
}
