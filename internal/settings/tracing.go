// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var tracing = Group{
	Name: "tracing",
	Doc: "Spans of requests: the first keys are defaults of the annotations of the same names, the others say where spans go. " +
		"No spans are made yet: all are checked, and have no effect until they are.",
	Keys: []Key{
		Bool("enable-opentelemetry", Spec{
			Default: "false", Example: "true", Harmless: []string{"false", "f", "0"}, Lacks: noSpans,
			Doc: "Asks for spans of the requests of all routes that do not decline. None are made yet.",
		}, func(d *draft, v bool) { d.tracing.On = v }),

		Parsed("opentelemetry-config", "path", Spec{
			Default: "/etc/ingress-controller/telemetry/opentelemetry.toml", Example: "/etc/ingress-controller/telemetry/opentelemetry.toml",
			Harmless: []string{"/etc/ingress-controller/telemetry/opentelemetry.toml"},
			Lacks:    "no such file is read or written; the keys otel-* and otlp-* say the same",
			Doc:      "There is no such file here, so the value has no effect; the keys otel-* and otlp-* say the same.",
		}, parsePath, func(*draft, string) {}),

		Parsed("opentelemetry-operation-name", "text with variables", Spec{
			Default: none, Example: "ingress", NotYet: true,
			Doc: "The name of the spans. No effect yet.",
		}, value.Template, func(d *draft, v model.Template) { d.tracing.Operation = string(v) }),

		Bool("opentelemetry-trust-incoming-span", Spec{
			Default: "true", Example: "false", NotYet: true,
			Doc: "Whether traces that clients send along are continued. No effect yet.",
		}, func(d *draft, v bool) { d.distrust = !v }),

		Int("otel-max-export-batch-size", Spec{
			Min: 1, Default: "512", Example: "256", Harmless: []string{"512"}, Lacks: noSpans,
			Doc: "How many spans are sent together. No effect yet.",
		}, func(d *draft, v int) { d.SpanExport.Batch = v }),

		Int("otel-max-queuesize", Spec{
			Min: 1, Default: "2048", Example: "4096", Harmless: []string{"2048"}, Lacks: noSpans,
			Doc: "How many spans wait at most. No effect yet.",
		}, func(d *draft, v int) { d.SpanExport.QueueSize = v }),

		Parsed("otel-sampler", "one of AlwaysOn, AlwaysOff, TraceIdRatioBased", Spec{
			Default: "AlwaysOn", Example: "TraceIdRatioBased", Harmless: []string{"alwayson"}, Lacks: noSpans,
			Doc: "Which traces are recorded. Upper and lower case are the same. No effect yet.",
		}, parseSampler, func(d *draft, v model.Sampler) { d.SpanExport.Sampler = v }),

		Bool("otel-sampler-parent-based", Spec{
			Default: "true", Example: "false", Harmless: []string{"true", "t", "1"}, Lacks: noSpans,
			Doc: "Records the traces that whoever began them records, and asks the sampler only about others. No effect yet.",
		}, func(d *draft, v bool) { d.SpanExport.ParentBased = v }),

		Parsed("otel-sampler-ratio", "number from 0 to 1", Spec{
			Default: "0.01", Example: "0.1", Harmless: []string{"0.01"}, Lacks: noSpans,
			Doc: "The share of traces that the sampler TraceIdRatioBased takes. No effect yet.",
		}, parseRatio, func(d *draft, v float64) { d.SpanExport.Ratio = v }),

		Int("otel-schedule-delay-millis", Spec{
			Min: 1, Default: "5000", Example: "1000", Harmless: []string{"5000"}, Lacks: noSpans,
			Doc: "Milliseconds between two sendings. No effect yet.",
		}, func(d *draft, v int) { d.SpanExport.Delay = time.Duration(v) * time.Millisecond }),

		Parsed("otel-service-name", "text", Spec{
			Default: "nginx", Example: "ingress", Harmless: []string{"nginx"}, Lacks: noSpans,
			Doc: "The name of the service that spans are of. No effect yet.",
		}, parseLabel, func(d *draft, v string) { d.SpanExport.Service = v }),

		Parsed("otlp-collector-host", "host name or address", Spec{
			Default: none, Example: "otel-collector.observability.svc", Lacks: noSpans,
			Doc: "Where spans are sent. No effect yet.",
		}, parseHost, func(d *draft, v string) { d.SpanExport.Collector = v }),

		Parsed("otlp-collector-port", "port", Spec{
			Default: "4317", Example: "4318", Harmless: []string{"4317"}, Lacks: noSpans,
			Doc: "The port there. No effect yet.",
		}, parsePort, func(d *draft, v int) { d.SpanExport.Port = v }),
	},
}

const noSpans = "no spans are made yet; requests are served without"

func parseSampler(text string) (model.Sampler, error) {
	for i, word := range []string{"alwayson", "alwaysoff", "traceidratiobased"} {
		if word == strings.ToLower(text) {
			return model.Sampler(i), nil
		}
	}
	return 0, errors.New("is none of AlwaysOn, AlwaysOff, TraceIdRatioBased")
}

func parseRatio(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > 1 {
		return 0, errors.New("is not a number from 0 to 1")
	}
	return v, nil
}

// parsePath reads an absolute path.
func parsePath(text string) (string, error) {
	if !strings.HasPrefix(text, "/") || hasControl(text) {
		return "", errors.New("is not an absolute path")
	}
	return text, nil
}

// parseLabel reads a name for people.
func parseLabel(text string) (string, error) {
	if text == "" || len(text) > 255 || hasControl(text) {
		return "", errors.New("is empty, longer than 255 bytes, or has control characters")
	}
	return text, nil
}

// parseHost reads a DNS name or an address.
func parseHost(text string) (string, error) {
	if _, err := netip.ParseAddr(text); err != nil && !value.IsHostName(text) {
		return "", errors.New("is neither a host name nor an address")
	}
	return text, nil
}

func parsePort(text string) (int, error) {
	v, err := parseInt(text, 1)
	if err != nil || v > 65535 {
		return 0, errors.New("is not a port from 1 to 65535")
	}
	return v, nil
}

// finishTracing makes the default of routes of what the keys say.
func (d *draft) finishTracing() {
	if d.distrust {
		d.tracing.TrustIncoming = new(bool)
	}
	if d.tracing != (model.Tracing{}) {
		t := d.tracing
		d.Route.Tracing = &t
	}
}
