// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/pires/go-proxyproto"
)

const addressHost = `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {rules: [{host: address.example, http: {paths: [` +
	`{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}`

// sendOverOne sends requests with these X-Forwarded-For over one connection that begins with a PROXY header, and gives what the backend saw.
func sendOverOne(t *testing.T, scheme string, header *proxyproto.Header, lists ...string) []seen {
	t.Helper()
	dials := 0
	dial := func(port int) (net.Conn, error) {
		dials++
		return (&request{proxy: header}).dial(port)
	}
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return dial(shared.httpPort) },
		DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
			conn, err := dial(shared.httpsPort)
			if err != nil {
				return nil, err
			}
			client := tls.Client(conn, &tls.Config{ServerName: "address.example", InsecureSkipVerify: true, NextProtos: []string{"h2"}})
			return client, client.Handshake()
		},
	}
	defer transport.CloseIdleConnections()
	var saw []seen
	for _, list := range lists {
		r, err := http.NewRequest(http.MethodGet, scheme+"://address.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", list)
		answer, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		var one seen
		if err != nil || json.Unmarshal(body, &one) != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if want := map[string]int{"http": 1, "https": 2}[scheme]; answer.ProtoMajor != want {
			t.Errorf("the answer came by HTTP/%d", answer.ProtoMajor)
		}
		saw = append(saw, one)
	}
	if dials != 1 {
		t.Errorf("%d connections", dials)
	}
	return saw
}

// TestAddressOfEachRequest checks that the address is found anew for each request of a connection.
func TestAddressOfEachRequest(t *testing.T) {
	lists := []string{"203.0.113.7", "6.6.6.6, 203.0.113.8", "203.0.113.7", "10.0.0.6"}
	for _, c := range []struct {
		name, settings string
		proxy          bool
		want           []string
	}{
		{"header", "use-forwarded-headers: \"true\"", false, []string{"203.0.113.7", "203.0.113.8", "203.0.113.7", "10.0.0.6"}},
		{"PROXY header", "use-proxy-protocol: \"true\"", true, []string{"10.0.0.5", "10.0.0.5", "10.0.0.5", "10.0.0.5"}},
		{"both", "use-proxy-protocol: \"true\", use-forwarded-headers: \"true\"", true, []string{"203.0.113.7", "203.0.113.8", "203.0.113.7", "10.0.0.6"}},
	} {
		shared.apply(t, addressHost, "{"+c.settings+", proxy-real-ip-cidr: \"127.0.0.1,10.0.0.0/8\"}")
		var header *proxyproto.Header
		if c.proxy {
			var err error
			if header, err = proxyHeader([]string{"2", "10.0.0.5", "10.0.0.1:443"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, scheme := range []string{"http", "https"} {
			for i, saw := range sendOverOne(t, scheme, header, lists...) {
				for _, name := range []string{"X-Real-Ip", "X-Forwarded-For"} {
					if got := saw.Header.Get(name); got != c.want[i] {
						t.Errorf("%s, %s, request %d: %s is %q, want %q", c.name, scheme, i, name, got, c.want[i])
					}
				}
			}
		}
	}
}

// TestOddProxyHeaders checks PROXY headers that name no client, as health checks of load balancers send them, and bad ones.
func TestOddProxyHeaders(t *testing.T) {
	shared.apply(t, addressHost, "use-proxy-protocol: \"true\"")
	local, err := (&proxyproto.Header{Version: 2, Command: proxyproto.LOCAL, TransportProtocol: proxyproto.UNSPEC}).Format()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, header string
		answered     bool
	}{
		{"version 1 without addresses", "PROXY UNKNOWN\r\n", true},
		{"version 2 without addresses", string(local), true},
		{"bad version 1", "PROXY TCP9 203.0.113.7 10.0.0.1 40000 80\r\n", false},
		{"no address", "PROXY TCP4 x y 1 2\r\n", false},
		{"bad version 2", string(local[:12]) + "\xff\xff\xff\xff", false},
		{"none", "", false},
	} {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpPort))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, c.header+"GET / HTTP/1.1\r\nHost: address.example\r\nConnection: close\r\n\r\n")
		body, _ := io.ReadAll(conn)
		conn.Close()
		if got := len(body) > 0; got != c.answered {
			t.Errorf("%s: answered %v: %.200s", c.name, got, body)
		}
	}
}
