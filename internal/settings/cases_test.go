// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var settingLine = regexp.MustCompile(`(?m)^([A-Za-z0-9-]+):`)

// requestCases finds the case of each key: the one through real nginx that is named for it, else the first that sets it, else a review of the admission webhook.
func requestCases(t *testing.T) map[string]string {
	const root = "../../"
	files, err := filepath.Glob(root + "test/e2e/http/testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	reviews, err := filepath.Glob(root + "internal/ingress/testdata/review/*/*.txtar")
	if err != nil || len(reviews) == 0 {
		t.Fatalf("no reviews: %v", err)
	}
	cases := map[string]string{}
	for _, file := range append(files, reviews...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(string(text), "\n-- settings.yaml --\n")
		if !found {
			continue
		}
		section, _, _ = strings.Cut(section, "\n-- ")
		for _, m := range settingLine.FindAllStringSubmatch(section, -1) {
			name, path := m[1], strings.TrimPrefix(file, root)
			named := strings.HasSuffix(file, "/settings/"+name+".txtar")
			if index[name] != nil && (cases[name] == "" || named) {
				cases[name] = path
			}
		}
	}
	return cases
}

// tested are the keys whose effect another test shows, or that have none that a request could see, with that test or the reason.
var tested = map[string]string{
	"access-log-params":                  "test/e2e/http TestLogPaths",
	"access-log-path":                    "test/e2e/http TestLogPaths",
	"allow-cross-namespace-resources":    "internal/ingress/testdata: which objects count is decided before nginx",
	"bind-address-ipv6":                  "internal/nginx/conf TestAddresses",
	"client-body-timeout":                "test/e2e/http TestClientTimeouts",
	"client-header-timeout":              "test/e2e/http TestClientTimeouts",
	"disable-ipv6-dns":                   "internal/ingress TestOnlyIPv4",
	"disable-stream-access-log":          "test/e2e/l4 TestLog and test/e2e/http TestLogPaths",
	"enable-ocsp":                        "test/e2e/http TestOCSP",
	"enable-serial-reloads":              "internal/nginx TestSerialReloads",
	"enable-syslog":                      "test/e2e/http TestSyslog",
	"error-log-path":                     "test/e2e/http TestLogPaths",
	"geoip2-autoreload-in-minutes":       "test/e2e/http TestGeoIP",
	"http-access-log-path":               "test/e2e/http TestLogPaths",
	"http2-max-concurrent-streams":       "test/e2e/http TestStreamsOfAConnection",
	"keep-alive":                         "test/e2e/http TestKeepAlive",
	"keep-alive-requests":                "test/e2e/http TestKeepAlive",
	"log-format-stream":                  "test/e2e/l4 TestLog and test/e2e/http TestLogPaths",
	"proxy-protocol-header-timeout":      "how long the listener of TLS passthrough waits for who says nothing shows in no request",
	"proxy-stream-load-balance":          "internal/l4 TestBalancers",
	"proxy-stream-max-connections":       "internal/l4 TestMaxConnections",
	"proxy-stream-next-upstream":         "internal/l4 TestAnotherEndpointIsTried",
	"proxy-stream-next-upstream-timeout": "internal/l4 TestTries",
	"proxy-stream-next-upstream-tries":   "internal/l4 TestTries",
	"proxy-stream-responses":             "internal/l4 TestResponses",
	"proxy-stream-timeout":               "internal/l4 TestIdleConnectionsEnd",
	"ssl-dh-param":                       "test/e2e/http TestDHParams",
	"ssl-early-data":                     "test/e2e/http TestEarlyData",
	"ssl-session-cache-size":             "how many sessions are kept shows in no single request",
	"stream-access-log-path":             "test/e2e/l4 TestLog and test/e2e/http TestLogPaths",
	"syslog-host":                        "test/e2e/http TestSyslog",
	"syslog-port":                        "test/e2e/http TestSyslog",
	"upstream-keepalive-requests":        "test/e2e/http TestUpstreamKeepalive",
	"upstream-keepalive-time":            "test/e2e/http TestUpstreamKeepalive",
	"upstream-keepalive-timeout":         "test/e2e/http TestUpstreamKeepalive",
	"use-geoip2":                         "test/e2e/http TestGeoIP",
}

// TestRequestCases demands a case, or another test, for each key that acts.
func TestRequestCases(t *testing.T) {
	cases := requestCases(t)
	for name, key := range index {
		_, otherwise := tested[name]
		switch {
		case !key.acts():
		case cases[name] == "" && !otherwise:
			t.Errorf("%s has no case test/e2e/http/testdata/settings/%s.txtar", name, name)
		case cases[name] != "" && otherwise:
			t.Errorf("%s has the case %s and needs no other test", name, cases[name])
		}
	}
	for name := range tested {
		if index[name] == nil {
			t.Errorf("%s is no key", name)
		}
	}
}
