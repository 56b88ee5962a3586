// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

func TestParse(t *testing.T) {
	s, problems := Parse(owner, map[string]string{
		"hsts-preload":                "true",
		"hsts-max-age":                "60",
		"proxy-body-size":             "0",
		"proxy-read-timeout":          "0x10",
		"worker-shutdown-timeout":     "10m",
		"no-tls-redirect-locations":   " /a ,, /b",
		"http-redirect-code":          "301",
		"disable-access-log":          "1",
		"ssl-protocols":               "TLSv1.3  TLSv1.2",
		"worker-processes":            "auto",
		"enable-modsecurity":          "false",
		"use-gzip":                    "false",
		"upstream-keepalive-requests": "10000",
	})
	if len(problems) != 0 {
		t.Errorf("problems: %v", problems)
	}
	switch {
	case s.HSTS != "max-age=60; includeSubDomains; preload",
		s.Route.BodyLimit != 0,
		s.Route.Timeouts.Read != 16*time.Second,
		s.WorkerShutdownTimeout != 10*time.Minute,
		strings.Join(s.NoHTTPSRedirect, " ") != "/a /b",
		s.HTTPSRedirectCode != 301,
		s.AccessLog,
		s.TLSProtocols != "TLSv1.3 TLSv1.2",
		s.Workers != 0,
		s.Closed != "":
		t.Errorf("settings: %+v", s)
	}
}

// TestRefused checks that what does not parse leaves its default and nothing else.
func TestRefused(t *testing.T) {
	for key, value := range map[string]string{
		"ssl-protocols":           "TLSv1.2; root /",
		"ssl-ciphers":             "HIGH; load_module x",
		"log-format-upstream":     "a\nb",
		"http-redirect-code":      "300",
		"worker-processes":        "many",
		"worker-shutdown-timeout": "1 day",
		"proxy-body-size":         "1mb",
		"proxy-connect-timeout":   "0",
		"max-worker-connections":  "0",
		"use-http2":               "on",
		"proxy-buffer-size":       "4kb",
		"proxy-buffers-number":    "1",
		"proxy-busy-buffers-size": "1g",
		"proxy-buffering":         "true",
		"proxy-next-upstream":     "always",
		"proxy-http-version":      "2",
		"proxy-cookie-path":       "/ /; secure",
		"proxy-redirect-from":     "~^http",
		"hsts-max-age":            "-1",
		"gzip-level":              "10",
		"gzip-types":              "text/css;",
		"access-log-path":         "relative.log",
		"access-log-params":       "flush=1s",
		"error-log-level":         "loud",
		"default-type":            "text",
		"keep-alive":              "-1",
		"worker-cpu-affinity":     "auto; root",
		"bind-address":            "localhost",
		"add-headers":             "no/such/name",
		"syslog-port":             "70000",
		"http-snippet":            "location / {",
		"server-snippet":          "return 200",
		"ssl-ecdh-curve":          "P-256:prime256v1",
		"ssl-session-ticket-key":  "c2VjcmV0",
		"ssl-session-cache-size":  "1k",
		"ssl-buffer-size":         "1g",
		"forwarded-host-header":   "a_b",
		"otlp-collector-port":     "65536",
		"otel-sampler-ratio":      "NaN",
		"otel-sampler":            "sometimes",
		"proxy-stream-timeout":    "0",
	} {
		s, problems := Parse(owner, map[string]string{key: value, "server-tokens": "true"})
		if len(problems) != 1 || problems[0].Reason != model.ReasonInvalidSetting || problems[0].Field != "data["+key+"]" {
			t.Errorf("%s: %v", key, problems)
		}
		want := model.DefaultSettings()
		want.ServerTokens = true
		if strings.Contains(problems[0].Message, "c2VjcmV0") {
			t.Errorf("a Problem shows a key: %s", problems[0].Message)
		}
		if s.TLSCiphers != want.TLSCiphers || s.TLSProtocols != want.TLSProtocols || s.LogFormat != want.LogFormat || !s.ServerTokens {
			t.Errorf("%s: %+v", key, s)
		}
	}
}

func TestUnknown(t *testing.T) {
	for key, want := range map[string]string{"Use-HTTP2": "use-http2", "ssl-redirct": "ssl-redirect"} {
		_, problems := Parse(owner, map[string]string{key: "true"})
		if len(problems) != 1 || problems[0].Reason != model.ReasonUnknownSetting || !strings.Contains(problems[0].Message, "did you mean "+want+"?") {
			t.Errorf("%s: %v", key, problems)
		}
	}
}

// TestControlsClose checks that a control of the admin is not dropped.
func TestControlsClose(t *testing.T) {
	for _, key := range []string{
		"global-auth-url", "block-cidrs", "whitelist-source-range", "denylist-source-range",
		"proxy-real-ip-cidr", "use-proxy-protocol", "use-forwarded-headers", "enable-real-ip", "forwarded-for-header",
	} {
		s, problems := Parse(owner, map[string]string{key: "10.0.0.0/8/"})
		if s.Closed == "" || len(problems) != 1 || problems[0].Reason == "" {
			t.Errorf("%s: %q, %v", key, s.Closed, problems)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, group := range Groups() {
		for _, key := range group.Keys {
			f.Add(key.Name, key.Example)
		}
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		s, problems := Parse(owner, map[string]string{key: value})
		for _, p := range problems {
			if p.Reason == "" || p.Message == "" {
				t.Errorf("a problem lacks a part: %+v", p)
			}
		}
		if strings.ContainsAny(s.LogFormat+s.TLSCiphers+s.TLSProtocols+s.HSTS, "\x00\r\n") || strings.ContainsAny(s.TLSCiphers+s.TLSProtocols+s.TLS.Curves+s.Client.For+s.Client.Host+s.Client.Late, ";{}\"'$") {
			t.Errorf("%s=%q was let through", key, value)
		}
		bare := slices.Concat(s.Compression.GzipTypes, s.Compression.BrotliTypes, s.Logs.Params, s.Headers.Hide,
			[]string{s.Connections.DefaultType, s.Worker.CPUAffinity, s.Logs.ErrorLevel, s.Logs.Escape, s.Logs.HTTPErrors})
		for _, z := range s.Worker.Zones {
			bare = append(bare, z.Name)
		}
		if strings.ContainsAny(strings.Join(bare, ""), ";{}\"'$\\#\x00\r\n") {
			t.Errorf("%s=%q would be more than a word of nginx: %q", key, value, bare)
		}
		if strings.ContainsAny(s.Logs.HTTP+s.Logs.Stream+s.Logs.ErrorPath+s.Compression.GzipDisable+s.Logs.StreamFormat, "\x00\r\n") {
			t.Errorf("%s=%q breaks a line", key, value)
		}
		if s.Route.BodyLimit < 0 || s.Route.Timeouts.Connect <= 0 || s.WorkerConnections <= 0 || s.Workers < 0 || s.KeepaliveConnections < 0 || s.WorkerShutdownTimeout <= 0 {
			t.Errorf("%s=%q gives a number out of bounds: %+v", key, value, s)
		}
	})
}

// TestPartly checks that of a list with a slip the rest is in force, with a Problem.
func TestPartly(t *testing.T) {
	s, problems := Parse(owner, map[string]string{
		"bind-address":      "192.0.2.1, nonsense, 2001:db8::1",
		"debug-connections": "10.0.0.0/8, nonsense",
		"lua-shared-dicts":  "mine: 5, fairway: 1, certificate_data: 512k, configuration_data: 20, big: 201, mine: 1",
	})
	if len(problems) != 3 {
		t.Errorf("problems: %v", problems)
	}
	for _, p := range problems {
		if !strings.Contains(p.Message, "the others are in force") {
			t.Errorf("%s: %s", p.Field, p.Message)
		}
	}
	if len(s.Listen.IPv4) != 1 || len(s.Listen.IPv6) != 1 || len(s.Worker.Debug) != 1 {
		t.Errorf("settings: %+v %+v", s.Listen, s.Worker)
	}
	if len(s.Worker.Zones) != 1 || s.Worker.Zones[0] != (model.LuaZone{Name: "mine", Bytes: 5 << 20}) || s.Worker.ZoneBytes != 20<<20+512<<10 {
		t.Errorf("zones: %+v", s.Worker)
	}
}

// TestDropped checks that keys without effect are known and say what to do.
func TestDropped(t *testing.T) {
	for key, want := range map[string]string{"jaeger-endpoint": "enable-opentelemetry", "use-geoip": "use-geoip2", "app-root": "annotation", "http2-max-requests": "keep-alive-requests"} {
		_, problems := Parse(owner, map[string]string{key: "7"})
		if len(problems) != 1 || problems[0].Reason != model.ReasonUnsupported || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: %v", key, problems)
		}
	}
}

// TestLogs checks where logs go.
func TestLogs(t *testing.T) {
	for _, c := range []struct {
		data         map[string]string
		http, stream string
	}{
		{map[string]string{}, "", ""},
		{map[string]string{"access-log-path": "/a"}, "/a", "/a"},
		{map[string]string{"access-log-path": "/a", "http-access-log-path": "/h"}, "/h", "/a"},
		{map[string]string{"access-log-path": "/var/log/nginx/access.log", "stream-access-log-path": "/s"}, "", "/s"},
		{map[string]string{"access-log-path": "/a", "enable-syslog": "true", "syslog-host": "::1"}, "syslog:server=[::1]:514", "/a"},
		{map[string]string{"access-log-path": "/a", "enable-syslog": "true"}, "/a", "/a"},
	} {
		s, _ := Parse(owner, c.data)
		if s.Logs.HTTP != c.http || s.Logs.Stream != c.stream {
			t.Errorf("%v: %+v", c.data, s.Logs)
		}
	}
}
