// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestStatusRanges(t *testing.T) {
	for text, want := range map[string]string{
		"200": "[200]", "200-399": "[200-399]", " 404, 200-299": "[200-299 404]", "200-299,250-320,321": "[200-321]",
		"": "", "2xx": "", "399-200": "", "200,": "", "099": "", "600": "", "+20": "", "200-": "", "-200": "",
	} {
		got, err := StatusRanges(text)
		if (err == nil) != (want != "") || err == nil && fmt.Sprint(got) != want {
			t.Errorf("%q gives %v, %v", text, got, err)
		}
	}
}

func TestDurationWithin(t *testing.T) {
	parse := DurationWithin(time.Second, time.Hour)
	for text, want := range map[string]time.Duration{
		"1": time.Second, "90": 90 * time.Second, "1m30s": 90 * time.Second, "1500ms": 1500 * time.Millisecond,
		"0": 0, "999ms": 0, "-5s": 0, "2h": 0, "": 0, "1 s": 0, "NaN": 0, "99999999999h": 0,
	} {
		if got, err := parse(text); (err == nil) != (want != 0) || err == nil && got != want {
			t.Errorf("%q gives %v, %v", text, got, err)
		}
	}
}

func TestCheckHost(t *testing.T) {
	for text, want := range map[string]string{
		"A.example": "a.example", "a.example:8080": "a.example:8080", "a": "a",
		"": "", "a:": "", "a:0": "", "a b": "", "a\r\nx: y": "", "a:80:80": "", "[::1]": "", "*.a": "",
	} {
		if got, err := CheckHost(text); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q gives %q, %v", text, got, err)
		}
	}
}

// FuzzHealth reads one text as all that checks take: whatever passes can stand in a request.
func FuzzHealth(f *testing.F) {
	for _, seed := range []string{
		"/", "/healthz?full=1", "/%zz", "/a b", "/\r\n", "//x", "a.example:80", "200-299,404", "10s", "1e9h", "grpc.health.v1", "80", "", "/%00", "*", "/\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if path, err := CheckPath(text); err == nil {
			if r, err := http.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil); err != nil || !clean(path) || r.URL.Host != "127.0.0.1" {
				t.Errorf("path %q: %v", text, err)
			}
		}
		if host, err := CheckHost(text); err == nil && (!clean(host) || strings.ContainsAny(host, " /@")) {
			t.Errorf("host %q", text)
		}
		if list, err := StatusRanges(text); err == nil {
			last := 0
			for _, r := range list {
				if r.First <= last || r.Last < r.First || r.Last > 599 {
					t.Errorf("statuses %q give %v", text, list)
				}
				last = r.Last
			}
		}
		if service, err := GRPCService(text); err == nil && !clean(service) {
			t.Errorf("service %q", text)
		}
		if d, err := DurationWithin(time.Second, time.Hour)(text); err == nil && (d < time.Second || d > time.Hour) {
			t.Errorf("time %q gives %v", text, d)
		}
		if n, err := Port(text); err == nil && n == 0 {
			t.Errorf("port %q", text)
		}
	})
}
