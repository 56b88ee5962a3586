// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairway-ingress/fairway/internal/model"
)

// TestStreamsAreBounded counts series: however many ports there are, those beyond the bound are one.
func TestStreamsAreBounded(t *testing.T) {
	backend := &model.Backend{ID: model.BackendID{Namespace: "shop", Service: "db", Port: "5432", Transport: model.UDP}}
	var list []model.StreamTraffic
	for port := range 3 * mostPorts {
		one := model.StreamTraffic{Datagrams: model.Datagrams{Lost: 1}, Open: 1, Listener: &model.Listener{Transport: model.UDP, Port: uint16(port + 1), Backend: backend}}
		for i := range one.Ended {
			one.Ended[i] = 1
		}
		list = append(list, one)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewStreams(func() []model.StreamTraffic { return list }))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := 0
	for _, f := range families {
		series += len(f.Metric)
	}
	if want := (mostPorts + 1) * (7 + int(model.StreamOutcomes)); series != want {
		t.Errorf("%d series, want %d", series, want)
	}
}
