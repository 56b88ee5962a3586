// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fairway-ingress/fairway/internal/health"
	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/nginx"
)

// metricsFlags say which metrics there are beside Fairway's own.
type metricsFlags struct {
	enabled  bool
	requests metrics.RequestOptions
}

func (f *metricsFlags) flags() *pflag.FlagSet {
	f.requests = *metrics.DefaultRequestOptions()
	r := &f.requests
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.BoolVar(&f.enabled, "enable-metrics", false, "serve the families nginx_ingress_controller_*, and count requests for them")
	flags.BoolVar(&r.PerHost, "metrics-per-host", r.PerHost, "give request metrics a label host; requests for hosts that no Ingress names are then not counted")
	flags.BoolVar(&r.PerUndefinedHost, "metrics-per-undefined-host", r.PerUndefinedHost, "count those too, all under the host `_`; needs --metrics-per-host")
	flags.BoolVar(&r.StatusClasses, "report-status-classes", r.StatusClasses, "label request metrics with 2xx instead of 200")
	flags.Var((*floatsFlag)(&r.TimeBuckets), "time-buckets", "buckets of durations, in seconds")
	flags.Var((*floatsFlag)(&r.LengthBuckets), "length-buckets", "buckets of request_size and response_size, in bytes")
	flags.Var((*floatsFlag)(&r.SizeBuckets), "size-buckets", "buckets of bytes_sent")
	flags.Float64Var(&r.BucketFactor, "bucket-factor", r.BucketFactor, "above 1: native histograms that grow by this factor besides, not of bytes_sent")
	flags.Uint32Var(&r.MaxBuckets, "max-buckets", r.MaxBuckets, "most buckets of a native histogram")
	flags.Var((*wordsFlag)(&r.Exclude), "exclude-socket-metrics", "families of requests that are left out, with or without their prefix")
	flags.IntVar(&r.MaxBatch, "monitor-max-batch-size", r.MaxBatch,
		"sets of labels that a worker keeps until the controller fetches them; what is beyond is counted together. Less than 10000 has no effect")
	flags.IntVar(&r.MaxSeries, "metrics-max-series", r.MaxSeries,
		"most series of the families nginx_ingress_controller_*; what is beyond is counted under the label `_overflow`. 0 for no bound")
	return flags
}

func (f *metricsFlags) check() error {
	if err := f.requests.Check(); err != nil {
		return usageError{err}
	}
	return nil
}

// wanted gives how requests are counted, nil when they are not.
func (f *metricsFlags) wanted(log *slog.Logger) *metrics.RequestOptions {
	if !f.enabled {
		return nil
	}
	for _, name := range f.requests.Unknown() {
		log.Warn("--exclude-socket-metrics names no family of requests", "name", name)
	}
	return &f.requests
}

// newMetrics makes the metrics of a controller, with the driver as the data plane.
func (f *controllerFlags) newMetrics(requests *metrics.RequestOptions, driver *nginx.Driver, checks *health.Driver, log *slog.Logger) *metrics.Metrics {
	return metrics.New(metrics.Options{
		Version: buildVersion(), Revision: buildRevision(), Repository: "https://github.com/fairway-ingress/fairway", Requests: requests,
		Namespace: cmp.Or(os.Getenv("POD_NAMESPACE"), "default"), Class: f.controllerClass, Pod: os.Getenv("POD_NAME"),
		Traffic: driver.Traffic, Usage: driver.Usage, Health: healthOf(checks, driver), Fallback: driver.Fallback(),
		Master: func() int { return nginxPID(f.runtimeDir) }, Log: log.With("part", "metrics"),
	})
}

// floatsFlag is a list of numbers, separated by commas; repeating the flag replaces the default and then adds.
type floatsFlag []float64

func (f *floatsFlag) String() string {
	words := make([]string, len(*f))
	for i, v := range *f {
		words[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Join(words, ",")
}

func (f *floatsFlag) Type() string { return "numbers" }

func (f *floatsFlag) Set(text string) error {
	var list []float64
	for word := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil {
			return fmt.Errorf("%q is no number", word)
		}
		list = append(list, v)
	}
	*f = list
	return nil
}

// wordsFlag is a list of words, separated by commas; the flag may be repeated.
type wordsFlag []string

func (f *wordsFlag) String() string { return strings.Join(*f, ",") }

func (f *wordsFlag) Type() string { return "words" }

func (f *wordsFlag) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			*f = append(*f, word)
		}
	}
	return nil
}
