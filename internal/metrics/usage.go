// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/prometheus/client_golang/prometheus"

// usageFamilies say what the data plane uses of what is limited. Without an answer of the data plane they have no series.
type usageFamilies struct{ metrics *Metrics }

var (
	shapesDesc = prometheus.NewDesc("fairway_shapes", "Shapes that nginx.conf has; each that is new costs a reload.", nil, nil)
	zoneDesc   = prometheus.NewDesc("fairway_shared_memory_bytes", "Size of each shared memory of nginx.", []string{"zone"}, nil)
	freeDesc   = prometheus.NewDesc("fairway_shared_memory_free_bytes",
		"Bytes of each shared memory that were never in use; what was freed within a page in use is not counted.", []string{"zone"}, nil)
)

// Describe implements prometheus.Collector.
func (usageFamilies) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{shapesDesc, zoneDesc, freeDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (f usageFamilies) Collect(out chan<- prometheus.Metric) {
	u, known := f.metrics.lastUsage()
	if !known {
		return
	}
	out <- prometheus.MustNewConstMetric(shapesDesc, prometheus.GaugeValue, float64(u.Shapes))
	for _, z := range u.Zones {
		out <- prometheus.MustNewConstMetric(zoneDesc, prometheus.GaugeValue, float64(z.Bytes), z.Name)
		out <- prometheus.MustNewConstMetric(freeDesc, prometheus.GaugeValue, float64(z.Free), z.Name)
	}
}
