// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// zoned gives the manifests of a Service that asks for near endpoints: m1 is in the zone of this proxy, m2 and m3 are not.
func (p pool) zoned() string {
	p.annotations = strings.TrimPrefix(p.annotations+`, service.kubernetes.io/topology-mode: Auto`, ", ")
	text := p.of("m1", "m2", "m3")
	for member, zone := range map[string]string{"m1": "here", "m2": "there", "m3": "there"} {
		at := fmt.Sprintf("addresses: [%s]", moods[member].address.Addr())
		text = strings.Replace(text, at, at+fmt.Sprintf(", hints: {forZones: [{name: %s}]}", zone), 1)
	}
	return text
}

// awaitShare sends requests until some in a row went as they should.
func awaitShare(t *testing.T, host, what string, is func(counts map[string]int) bool) {
	t.Helper()
	var counts map[string]int
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if counts = share(t, host, 12); is(counts) {
			return
		}
	}
	t.Fatalf("%s: %v", what, counts)
}

func onlyNear(counts map[string]int) bool { return counts["m1"] > 0 && len(counts) == 1 }

// onlyFar wants answers, all of other zones.
func onlyFar(counts map[string]int) bool {
	return counts["m2"] > 0 && counts["m3"] > 0 && len(counts) == 2
}

// TestOtherZonesWhenTriesFail has the near endpoint refuse connections: each request is answered by one of another zone, however it is balanced, and as
// soon as the near one is back it has all of them again.
func TestOtherZonesWhenTriesFail(t *testing.T) {
	p := newPool(t, "")
	names := slices.Sorted(maps.Keys(ways))
	cluster := p.zoned()
	for _, name := range names {
		cluster += rule(name, name+".example", "/", p.name, ways[name])
	}
	shared.apply(t, cluster, "")
	for _, mood := range []string{"fine", "gone", "fine"} {
		moods["m1"].set(t, mood)
		for _, name := range names {
			counts := map[string]int{}
			for _, member := range endpointsOf(t, 24, func(key int) (*http.Request, error) {
				request, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/?key=%d", shared.httpPort, key), nil)
				if err == nil {
					request.Host, request.Close = name+".example", true
				}
				return request, err
			}) {
				counts[member]++
			}
			if want := map[bool]func(map[string]int) bool{true: onlyNear, false: onlyFar}[mood == "fine"]; !want(counts) {
				t.Errorf("%s, while the near endpoint is %s: %v", name, mood, counts)
			}
		}
	}
}

// TestOtherZonesWhenUnwell lets checks, and requests, find the near endpoint unwell: the others take its requests until it is well again.
func TestOtherZonesWhenUnwell(t *testing.T) {
	for _, c := range []struct{ name, annotations, mood string }{
		{"checked", `fairway.dev/health-check-type: HTTP, fairway.dev/health-check-path: /healthz, fairway.dev/health-check-interval: "500ms", ` +
			`fairway.dev/health-check-unhealthy-threshold: "1", fairway.dev/health-check-healthy-threshold: "1"`, "sick"},
		{"watched", `fairway.dev/outlier-consecutive-failures: "2", fairway.dev/outlier-base-ejection-time: "1s"`, "500"},
	} {
		p := newPool(t, c.annotations)
		host := c.name + ".example"
		shared.apply(t, rule(c.name, host, "/", p.name, "")+p.zoned(), "")
		awaitShare(t, host, "all is well", onlyNear)
		moods["m1"].set(t, c.mood)
		awaitShare(t, host, "the near endpoint is "+c.mood, onlyFar)
		moods["m1"].set(t, "fine")
		awaitShare(t, host, "the near endpoint is back", onlyNear)
	}
}
