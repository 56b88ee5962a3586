// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// newHTTP2Client gives a client that speaks HTTP/2 to the stage, whatever the host's name.
func newHTTP2Client() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort))
			},
		},
	}
}

// TestExternalAuthOverHTTP2 asks about requests of HTTP/2, with bodies whose length is not announced.
func TestExternalAuthOverHTTP2(t *testing.T) {
	address := shared.backends["blue"]
	shared.apply(t, rule("h2auth", "h2auth.example", "/", "web", prefix+
		`auth-url: "http://`+address.String()+`/?status=$arg_auth&header=X-User:alice", `+prefix+`auth-response-headers: "X-User"`), "")
	client := newHTTP2Client()
	defer client.CloseIdleConnections()
	for _, test := range []struct {
		method string
		status int
		body   int
	}{{"GET", 200, 0}, {"POST", 200, 300000}, {"POST", 401, 300000}, {"GET", 403, 0}, {"POST", 200, 1}} {
		var body bytes.Buffer
		body.WriteString(strings.Repeat("x", test.body))
		request, err := http.NewRequest(test.method, fmt.Sprintf("https://h2auth.example/a?auth=%d", test.status), struct{ *bytes.Buffer }{&body})
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-User", "mallory")
		response, err := client.Do(request)
		if err != nil {
			t.Fatalf("%+v: %v", test, err)
		}
		var saw seen
		_ = json.NewDecoder(response.Body).Decode(&saw) // a refusal is no JSON
		response.Body.Close()
		if response.StatusCode != test.status || response.ProtoMajor != 2 {
			t.Errorf("%+v: %s %d", test, response.Proto, response.StatusCode)
		}
		if test.status == 200 && (saw.Bytes != int64(test.body) || saw.Header.Get("X-User") != "alice") {
			t.Errorf("%+v: the backend saw %+v", test, saw)
		}
		if test.status != 200 && saw.Backend != "" {
			t.Errorf("%+v: the backend was asked", test)
		}
	}
}

// TestOversizeIngress applies what an API server would hardly store (CVE-2026-24514): values beyond all bounds are refused one by one.
func TestOversizeIngress(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	var paths strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&paths, "{path: \"/p%d\", pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}},", i)
	}
	big := strings.Replace(rule("big", "big.example", "/", "web", prefix+`auth-url: "http://`+long+`", `+prefix+`rewrite-target: "/`+long+`"`),
		"paths: [", "paths: ["+paths.String(), 1)
	shared.apply(t, big+rule("good", "good.example", "/", "blue", ""), "")
	for target, want := range map[string]int{"big.example/p7": 503, "big.example/": 503, "good.example/": 200} {
		r, err := (&request{method: "GET", url: "http://" + target, body: -1}).send(shared)
		if err != nil || r.status != want {
			t.Errorf("%s answers %+v, %v; want %d", target, r, err, want)
		}
	}
}
