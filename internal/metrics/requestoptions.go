// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// RequestOptions say how requests are counted, in the terms of the predecessor's flags.
type RequestOptions struct {
	// PerHost gives request families a label host; without PerUndefinedHost only requests for hosts that an Ingress names are then counted.
	PerHost, PerUndefinedHost bool
	// StatusClasses makes the label status 2xx instead of 200.
	StatusClasses bool
	// The buckets of durations in seconds, of sizes in bytes, and of bytes_sent.
	TimeBuckets, LengthBuckets, SizeBuckets []float64
	// BucketFactor above 1 asks for native histograms besides, with at most MaxBuckets buckets.
	BucketFactor float64
	MaxBuckets   uint32
	// Exclude are request families that are not there, by name with or without the prefix.
	Exclude []string
	// MaxBatch is how many sets of labels a worker keeps between two deliveries; less than MinBatch is MinBatch.
	MaxBatch int
	// MaxSeries bounds the series of the predecessor's families; 0 is no bound. See budget.go.
	MaxSeries int
}

// MinBatch is the least that RequestOptions.MaxBatch can ask for.
const MinBatch = 10000

// DefaultMaxSeries is what one replica should not exceed.
const DefaultMaxSeries = 20000

// DefaultRequestOptions are the predecessor's.
func DefaultRequestOptions() *RequestOptions {
	return &RequestOptions{
		PerHost:       true,
		TimeBuckets:   []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		LengthBuckets: []float64{10, 20, 30, 40, 50, 60, 70, 80, 90, 100},
		SizeBuckets:   []float64{10, 100, 1000, 10000, 100000, 1e6, 1e7},
		MaxBuckets:    100, MaxBatch: MinBatch, MaxSeries: DefaultMaxSeries,
	}
}

// requestFamilies are the names of the families of requests without prefix: the counter, then a histogram for each measure.
var requestFamilies = []struct{ name, help string }{
	{"requests", "Requests of clients that routes took."},
	{"request_duration_seconds", "Seconds from the first byte of a request until its end."},
	{"connect_duration_seconds", "Seconds until the connection to the backend was there, 0 for one that was kept."},
	{"header_duration_seconds", "Seconds until the header of the backend's response was there."},
	{"response_duration_seconds", "Seconds until the backend's response was complete."},
	{"request_size", "Bytes received of a request, with its header."},
	{"response_size", "Bytes sent of a response, with its header."},
	{"bytes_sent", "Bytes sent of a response, with its header; the same as response_size in other buckets."},
}

// Check says what is wrong with the options, nil for nothing.
func (o *RequestOptions) Check() error {
	for name, bounds := range map[string][]float64{"time-buckets": o.TimeBuckets, "length-buckets": o.LengthBuckets, "size-buckets": o.SizeBuckets} {
		if err := checkBuckets(bounds); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	if o.PerUndefinedHost && !o.PerHost {
		return fmt.Errorf("--metrics-per-undefined-host needs --metrics-per-host, which is off")
	}
	if o.MaxSeries < 0 {
		return fmt.Errorf("--metrics-max-series is %d; it must be 0 for no bound, or more", o.MaxSeries)
	}
	return nil
}

// mostBuckets bounds what each series costs.
const mostBuckets = 200

func checkBuckets(bounds []float64) error {
	if len(bounds) > mostBuckets {
		return fmt.Errorf("%d bounds are more than %d", len(bounds), mostBuckets)
	}
	for i, b := range bounds {
		switch {
		case math.IsNaN(b) || math.IsInf(b, 0):
			return fmt.Errorf("%g is no bound of a bucket", b)
		case i > 0 && bounds[i-1] >= b:
			return fmt.Errorf("%g does not come after %g: bounds must rise", b, bounds[i-1])
		}
	}
	return nil
}

// bounds gives the buckets of a measure.
func (o *RequestOptions) bounds(m model.Measure) []float64 {
	switch {
	case m.IsTime():
		return o.TimeBuckets
	case m == model.BytesSent:
		return o.SizeBuckets
	}
	return o.LengthBuckets
}

// excluded tells whether a family, by its place in requestFamilies, is left out.
func (o *RequestOptions) excluded(family int) bool {
	return slices.ContainsFunc(o.Exclude, func(name string) bool { return strings.TrimPrefix(name, prefix) == requestFamilies[family].name })
}

// Unknown gives those of Exclude that name no family of requests.
func (o *RequestOptions) Unknown() []string {
	var list []string
	for _, name := range o.Exclude {
		if !slices.ContainsFunc(requestFamilies, func(f struct{ name, help string }) bool { return f.name == strings.TrimPrefix(name, prefix) }) {
			list = append(list, name)
		}
	}
	return list
}

// native tells whether there are native histograms of a measure.
func (o *RequestOptions) native(m model.Measure) bool {
	return o.BucketFactor > 1 && m != model.BytesSent
}

// Traffic gives what the data plane has to count; nil when o is.
func (o *RequestOptions) Traffic() *model.TrafficOptions {
	if o == nil {
		return nil
	}
	t := &model.TrafficOptions{
		PerHost: o.PerHost, Undefined: o.PerUndefinedHost, StatusClasses: o.StatusClasses, Values: o.BucketFactor > 1, MostSets: max(o.MaxBatch, MinBatch),
	}
	for _, m := range model.Measures() {
		t.Bounds[m], t.Excluded[m] = o.bounds(m), o.excluded(1+int(m))
	}
	return t
}
