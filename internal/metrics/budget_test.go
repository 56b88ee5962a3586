// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// series counts what a scrape gives, as Prometheus counts: one for each bucket, sum and count.
func series(t *testing.T, g prometheus.Gatherer, prefix string) int {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), prefix) {
			continue
		}
		for _, m := range f.GetMetric() {
			switch f.GetType() {
			case dto.MetricType_HISTOGRAM:
				n += len(m.GetHistogram().GetBucket()) + 3
			default:
				n++
			}
		}
	}
	return n
}

func traffic(ingress, method, status string) model.Traffic {
	t := model.Traffic{Requests: 1, TrafficLabels: model.TrafficLabels{
		Host: ingress + ".example", Namespace: "ns", Ingress: ingress, Service: "web", Path: "/", Method: method, Status: status,
	}}
	o := DefaultRequestOptions()
	for _, m := range model.Measures() {
		t.Measures[m] = model.Distribution{Sum: 1, Counts: make([]uint64, len(o.bounds(m))+1)}
		t.Measures[m].Counts[0] = 1
	}
	return t
}

func ingresses(names ...string) []*netv1.Ingress {
	var list []*netv1.Ingress
	for _, name := range names {
		list = append(list, &netv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
	}
	return list
}

// TestSeriesOfManyRoutes is the promise of the design: 5,000 routes, each with its certificate and with requests of two methods and three statuses, are
// at most 20,000 series, and nothing is lost from the sums.
func TestSeriesOfManyRoutes(t *testing.T) {
	const routes = 5000
	var names []string
	built := &model.Model{}
	for i := range routes {
		name := fmt.Sprintf("i%04d", i)
		names = append(names, name)
		certificate := &model.Certificate{ID: model.CertificateID(name), Owner: model.Ref{Kind: "Secret", Namespace: "ns", Name: name}}
		built.Certificates = append(built.Certificates, certificate)
		built.ServerNames = append(built.ServerNames, model.ServerName{Name: name + ".example", Certificates: []model.CertificateID{certificate.ID}})
	}
	for _, tls := range []bool{false, true} {
		m := New(Options{Requests: DefaultRequestOptions()})
		round := Round{Model: &model.Model{}, Accepted: ingresses(names...)}
		if tls {
			round.Model = built
		}
		m.Round(round, epoch)
		requests := 0
		for _, method := range []string{"GET", "POST"} {
			for _, status := range []string{"200", "404", "503"} {
				for _, name := range names {
					m.old.requests.add([]model.Traffic{traffic(name, method, status)})
					requests++
				}
			}
		}
		total := series(t, m.Gatherer(), "")
		t.Logf("%d routes, certificates %v: %d series, %d of requests", routes, tls, total, series(t, m.Gatherer(), prefix+"requests"))
		if total > DefaultMaxSeries || total < DefaultMaxSeries*9/10 {
			t.Errorf("%d series; at most %d are promised, and nearly as many should be used", total, DefaultMaxSeries)
		}
		if counted, measured := sums(t, m); counted != requests || measured != requests {
			t.Errorf("%d requests counted and %d measured of %d", counted, measured, requests)
		}
	}
}

// sums adds up the counter and the count of a histogram over all labels.
func sums(t *testing.T, m *Metrics) (counted, measured int) {
	t.Helper()
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			switch f.GetName() {
			case prefix + "requests":
				counted += int(s.GetCounter().GetValue())
			case prefix + "request_size":
				measured += int(s.GetHistogram().GetSampleCount())
			}
		}
	}
	return counted, measured
}

// TestOverflow goes through the steps: full labels, then one set per Ingress, then one for all.
func TestOverflow(t *testing.T) {
	options := DefaultRequestOptions()
	r := newRequests(*options, nil, func() int { return 0 })
	per := r.budget.perHistogram
	r.budget.most = reserve + 5*per*5/3 + 5 // four sets for histograms beside the last: two full, two of Ingresses
	for _, set := range []struct{ ingress, method string }{{"a", "GET"}, {"a", "POST"}, {"a", "PUT"}, {"a", "PATCH"}, {"b", "GET"}, {"c", "GET"}, {"a", "PUT"}, {"a", "GET"}} {
		r.add([]model.Traffic{traffic(set.ingress, set.method, "200")})
	}
	o := model.Overflow
	for labels, want := range map[model.TrafficLabels]uint64{
		traffic("a", "GET", "200").TrafficLabels:                                                       2,
		traffic("a", "POST", "200").TrafficLabels:                                                      1,
		{Host: o, Namespace: "ns", Ingress: "a", Service: o, Path: o, Canary: o, Method: o, Status: o}: 3,
		{Host: o, Namespace: "ns", Ingress: "b", Service: o, Path: o, Canary: o, Method: o, Status: o}: 1,
		{Host: o, Namespace: o, Ingress: o, Service: o, Path: o, Canary: o, Method: o, Status: o}:      1,
	} {
		h := r.histograms[labels]
		if h == nil || h[model.RequestSize].counts[0] != want {
			t.Errorf("%+v: %v, want %d", labels, h, want)
		}
	}
	r.budget.most = reserve + (len(r.counters)+classes)*5/2 + 1
	r.add([]model.Traffic{traffic("d", "GET", "503"), traffic("d", "GET", "502"), traffic("a", "GET", "200")})
	if n := r.counters[overflowOf("5xx")]; n != 2 {
		t.Errorf("%d requests overflow with 5xx, want 2: %v", n, r.counters)
	}
	if n := r.counters[traffic("a", "GET", "200").TrafficLabels]; n != 3 {
		t.Errorf("%d requests under labels that were there before, want 3", n)
	}
}
