// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairway-ingress/fairway/internal/model"
)

// mostPorts is how many ports of TCP and UDP services have series of their own; what is counted of further ones is added up under "_overflow".
const mostPorts = 200

// Streams are the families of TCP and UDP services.
type Streams struct {
	traffic                      func() []model.StreamTraffic
	open, ended, bytes, failures *prometheus.Desc
	datagrams, lost              *prometheus.Desc // of UDP
}

// NewStreams gives the families of what a function counts.
func NewStreams(traffic func() []model.StreamTraffic) *Streams {
	port := []string{"transport", "port", "namespace", "service"}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("fairway_stream_"+name, help, slices.Concat(port, labels), nil)
	}
	return &Streams{
		traffic:  traffic,
		open:     desc("connections", "Connections of TCP services and sessions of UDP services that there are now."),
		ended:    desc("connections_total", "Those that are over, by how they ended.", "outcome"),
		bytes:    desc("bytes_total", "Bytes that were passed on, from clients (in) and to them (out).", "direction"),
		failures: desc("connect_failures_total", "Connections to endpoints that could not be opened, also where another endpoint took it."),

		datagrams: desc("datagrams_total", "Datagrams that were passed on, from clients (in) and to them (out).", "direction"),
		lost:      desc("datagrams_lost_total", "Datagrams of either side that were not passed on."),
	}
}

// Describe is part of prometheus.Collector.
func (s *Streams) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.open, s.ended, s.bytes, s.failures, s.datagrams, s.lost} {
		out <- d
	}
}

// Collect is part of prometheus.Collector.
func (s *Streams) Collect(out chan<- prometheus.Metric) {
	list := s.traffic()
	slices.SortFunc(list, func(a, b model.StreamTraffic) int { return a.Listener.Compare(b.Listener) })
	for i := range list[:min(len(list), mostPorts)] {
		l := list[i].Listener
		id := l.Backend.ID
		s.collect(out, &list[i], l.Transport.String(), strconv.Itoa(int(l.Port)), id.Namespace, id.Service)
	}
	if len(list) <= mostPorts {
		return
	}
	var rest model.StreamTraffic
	for _, t := range list[mostPorts:] {
		rest.Open, rest.Failures = rest.Open+t.Open, rest.Failures+t.Failures
		rest.Received, rest.Sent = rest.Received+t.Received, rest.Sent+t.Sent
		rest.Datagrams.Received, rest.Datagrams.Sent = rest.Datagrams.Received+t.Datagrams.Received, rest.Datagrams.Sent+t.Datagrams.Sent
		rest.Datagrams.Lost += t.Datagrams.Lost
		for i, n := range t.Ended {
			rest.Ended[i] += n
		}
	}
	s.collect(out, &rest, model.Overflow, model.Overflow, model.Overflow, model.Overflow)
}

func (s *Streams) collect(out chan<- prometheus.Metric, t *model.StreamTraffic, port ...string) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, more ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, slices.Concat(port, more)...)
	}
	send(s.open, prometheus.GaugeValue, float64(t.Open))
	send(s.failures, prometheus.CounterValue, float64(t.Failures))
	send(s.bytes, prometheus.CounterValue, float64(t.Received), "in")
	send(s.bytes, prometheus.CounterValue, float64(t.Sent), "out")
	if d := t.Datagrams; d != (model.Datagrams{}) || t.Listener != nil && t.Listener.Transport == model.UDP {
		send(s.datagrams, prometheus.CounterValue, float64(d.Received), "in")
		send(s.datagrams, prometheus.CounterValue, float64(d.Sent), "out")
		send(s.lost, prometheus.CounterValue, float64(d.Lost))
	}
	for i, n := range t.Ended {
		if outcome := model.StreamOutcome(i); n != 0 || outcome == model.StreamDone {
			send(s.ended, prometheus.CounterValue, float64(n), outcome.String())
		}
	}
}
