// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// crowd is a Service with as many endpoints as ports; each answers with its place as name.
type crowd struct{ ports []int }

func newCrowd(t *testing.T, count int) *crowd {
	return crowdOf(t, count, func(place int) http.Handler { return serveEcho(fmt.Sprint(place)) })
}

// crowdOf gives a crowd with handlers of one's own.
func crowdOf(t *testing.T, count int, handler func(place int) http.Handler) *crowd {
	c := &crowd{}
	for i := range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: handler(i)}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { _ = server.Close() })
		c.ports = append(c.ports, l.Addr().(*net.TCPAddr).Port)
	}
	return c
}

// manifests leaves out the endpoint at a place; -1 leaves out none.
func (c *crowd) manifests(without int) string {
	var out strings.Builder
	out.WriteString("---\n{apiVersion: v1, kind: Service, metadata: {name: crowd}, spec: {ports: [{name: main, port: 80}]}}\n")
	for i, port := range c.ports {
		if i != without {
			fmt.Fprintf(&out, `---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: crowd-%d, labels: {kubernetes.io/service-name: crowd}},
 addressType: IPv4, ports: [{name: main, port: %d}], endpoints: [{addresses: [127.0.0.1]}]}
`, i, port)
		}
	}
	return out.String()
}

// endpointsOf sends one request per key and gives the endpoint that answered each.
func endpointsOf(t *testing.T, count int, send func(key int) (*http.Request, error)) []string {
	t.Helper()
	answers := make([]string, count)
	for key := range answers {
		request, err := send(key)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var saw seen
		err = json.NewDecoder(response.Body).Decode(&saw)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		answers[key] = saw.Backend
	}
	return answers
}

// TestHashMovesLittle sends requests with many keys, by the text of a hash and by balanced cookies: all endpoints get their share, and when one of ten goes, only its
// keys move.
func TestHashMovesLittle(t *testing.T) {
	const keys, gone = 2000, 3
	crowd := newCrowd(t, 10)
	ingresses := rule("hash", "hash.example", "/", "crowd", prefix+`upstream-hash-by: "$arg_key"`) +
		rule("cookie", "cookie.example", "/", "crowd", prefix+`affinity: cookie`)
	request := func(host, cookie string) func(key int) (*http.Request, error) {
		return func(key int) (*http.Request, error) {
			r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/?key=%d", shared.httpPort, key), nil)
			if err == nil {
				r.Host = host
				r.Header.Set("Cookie", fmt.Sprintf("%s=key-%d", cookie, key))
			}
			return r, err
		}
	}
	for _, host := range []string{"hash.example", "cookie.example"} {
		shared.apply(t, ingresses+crowd.manifests(-1), "")
		before := endpointsOf(t, keys, request(host, "INGRESSCOOKIE"))
		shared.apply(t, ingresses+crowd.manifests(gone), "")
		after := endpointsOf(t, keys, request(host, "INGRESSCOOKIE"))

		share := map[string]int{}
		moved := 0
		for key := range keys {
			share[before[key]]++
			switch {
			case before[key] == after[key]:
			case before[key] != fmt.Sprint(gone):
				t.Fatalf("%s: key %d moved from endpoint %s to %s, though endpoint %d went", host, key, before[key], after[key], gone)
			default:
				moved++
			}
		}
		for endpoint, n := range share {
			if n < keys/10*3/4 || n > keys/10*5/4 {
				t.Errorf("%s: endpoint %s got %d of %d keys", host, endpoint, n, keys)
			}
		}
		if len(share) != 10 || moved > keys*15/100 {
			t.Errorf("%s: %d endpoints answered, %d of %d keys moved", host, len(share), moved, keys)
		}
	}
}

// TestEWMAKeepsWhatItKnows adds an endpoint to a fast and a slow one: the slow one is still avoided, and the new one is used.
func TestEWMAKeepsWhatItKnows(t *testing.T) {
	crowd := newCrowd(t, 2)
	ingress := rule("ewma", "ewma.example", "/", "crowd", prefix+`load-balance: ewma`)
	slow := fmt.Sprintf(`---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: slow-too, labels: {kubernetes.io/service-name: crowd}},
 addressType: IPv4, ports: [{name: main, port: %d}], endpoints: [{addresses: [127.0.0.1]}]}
`, shared.backends["slow"].Port())
	request := func(int) (*http.Request, error) {
		r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", shared.httpPort), nil)
		if err == nil {
			r.Host, r.Close = "ewma.example", true // each on a connection of its own, so that both workers get some
		}
		return r, err
	}
	shared.apply(t, ingress+crowd.manifests(1)+slow, "")
	endpointsOf(t, 40, request)
	shared.apply(t, ingress+crowd.manifests(-1)+slow, "")
	share := map[string]int{}
	for _, endpoint := range endpointsOf(t, 100, request) {
		share[endpoint]++
	}
	if share["slow"] > 20 || share["1"] < 5 || share["0"] < 5 {
		t.Errorf("of 100 requests after the change, endpoints got %v", share)
	}
}
