// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// TestMetricsFlags sends requests to a running controller and looks at what its metrics say of them, for flags that need not exclude each other at once.
func TestMetricsFlags(t *testing.T) {
	for _, c := range []struct {
		title, flags string
		want         []string
		unwanted     []string
	}{
		{
			title: "off", flags: "",
			want: []string{`fairway_hosts [1-9]`}, unwanted: []string{`nginx_ingress_controller_requests`},
		},
		{
			title: "on", flags: "--enable-metrics",
			want: []string{
				`nginx_ingress_controller_requests{[^}]*host="shop\.example"[^}]*status="200"[^}]*} [1-9]`,
				`nginx_ingress_controller_request_duration_seconds_bucket{[^}]*le="0\.025"`, `nginx_ingress_controller_connect_duration_seconds_count`,
			},
			unwanted: []string{`host="unknown\.example"`, `nginx_ingress_controller_requests{[^}]*host="_"`},
		},
		{
			title: "shaped",
			flags: "--enable-metrics --metrics-per-undefined-host --report-status-classes --time-buckets=0.5,30 --length-buckets=77,5000 --size-buckets=9,9000" +
				" --exclude-socket-metrics=connect_duration_seconds,nginx_ingress_controller_header_duration_seconds",
			want: []string{
				`nginx_ingress_controller_requests{[^}]*host="shop\.example"[^}]*status="2xx"`, `nginx_ingress_controller_requests{[^}]*host="_"`,
				`nginx_ingress_controller_request_duration_seconds_bucket{[^}]*le="30"`, `nginx_ingress_controller_request_size_bucket{[^}]*le="5000"`,
				`nginx_ingress_controller_bytes_sent_bucket{[^}]*le="9000"`,
			},
			unwanted: []string{`connect_duration_seconds`, `header_duration_seconds`, `nginx_ingress_controller_[a-z]*_duration_seconds_bucket{[^}]*le="0\.025"`, `status="200"`},
		},
		{
			title: "without host, with native histograms", flags: "--enable-metrics --metrics-per-host=false --bucket-factor=1.1",
			want:     []string{`nginx_ingress_controller_requests{[^}]*status="200"`},
			unwanted: []string{`nginx_ingress_controller_requests{[^}]*host=`},
		},
	} {
		t.Run(c.title, func(t *testing.T) {
			dir := needsNginx(t)
			served(t, dir, answering(t, "blue"))
			p := startProgram(t, dir, strings.Fields(c.flags)...)
			t.Cleanup(func() { _ = p.command.Process.Kill() }) // ended already when all went well
			eventually(t, "ready", func() bool { status, _ := get(p.own, "", "/readyz"); return status == 200 })
			for host, want := range map[string]int{"shop.example": 200, "unknown.example": 404} {
				if status, body := get(p.http, host, "/"); status != want {
					t.Fatalf("%s answers %d: %s", host, status, body)
				}
			}
			var body string
			eventually(t, "metrics of the requests", func() bool {
				_, body = get(p.own, "", "/metrics")
				for _, want := range c.want {
					if !regexp.MustCompile("(?m)^.*" + want).MatchString(body) {
						return false
					}
				}
				return true
			})
			for _, unwanted := range c.unwanted {
				if line := regexp.MustCompile("(?m)^.*" + unwanted + ".*$").FindString(body); line != "" {
					t.Errorf("%s: %s", c.flags, line)
				}
			}
			if native := hasNativeHistograms(t, p.own); native != strings.Contains(c.flags, "bucket-factor") {
				t.Errorf("%s: native histograms: %v", c.flags, native)
			}
			_ = p.command.Process.Signal(syscall.SIGTERM) // its end is the subject of other tests
			_ = p.command.Wait()
		})
	}
}

// hasNativeHistograms asks in Prometheus' binary format, the only one that has them.
func hasNativeHistograms(t *testing.T, port int) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", port), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	decoder := expfmt.NewDecoder(response.Body, expfmt.ResponseFormat(response.Header))
	for {
		var family dto.MetricFamily
		if err := decoder.Decode(&family); errors.Is(err, io.EOF) {
			return false
		} else if err != nil {
			t.Fatal(err)
		}
		for _, m := range family.GetMetric() {
			if h := m.GetHistogram(); h != nil && h.Schema != nil && strings.HasPrefix(family.GetName(), "nginx_ingress_controller_request_duration") {
				return true
			}
		}
	}
}
