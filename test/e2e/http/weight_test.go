// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// weighted are the manifests of the crowd with weights of its endpoints, in their order.
func (c *crowd) weighted(weights ...int) string {
	text := c.manifests(-1)
	for i, w := range weights {
		name := fmt.Sprintf("{name: crowd-%d,", i)
		text = strings.Replace(text, name, fmt.Sprintf(`%s annotations: {fairway.dev/weight: "%d"},`, name, w), 1)
	}
	return text
}

// count sends requests to a host, each with its number as ?key=, and counts the answers of each endpoint of the crowd.
func (c *crowd) count(t *testing.T, host string, requests int, newConnections bool) []int {
	t.Helper()
	counts := make([]int, len(c.ports))
	for _, name := range endpointsOf(t, requests, func(key int) (*http.Request, error) {
		r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/?key=%d", shared.httpPort, key), nil)
		if err == nil {
			r.Host, r.Close = host, newConnections
		}
		return r, err
	}) {
		place, err := strconv.Atoi(name)
		if err != nil {
			t.Fatalf("%s: answer of %q", host, name)
		}
		counts[place]++
	}
	return counts
}

// TestWeights gives three slices of a Service weights, and changes them: each way to balance obeys.
func TestWeights(t *testing.T) {
	const requests = 1600
	crowd := newCrowd(t, 3)
	cluster := rule("turns", "turns.example", "/", "crowd", "") +
		rule("hash", "hash.example", "/", "crowd", prefix+`upstream-hash-by: "$arg_key"`) +
		rule("cookie", "cookie.example", "/", "crowd", prefix+`affinity: cookie`) +
		rule("persistent", "persistent.example", "/", "crowd", prefix+`affinity: cookie, `+prefix+`affinity-mode: persistent`)
	reloads := shared.reloads
	for _, weights := range [][]int{{5, 2, 1}, {1, 2, 1}, {1, 30, 1}} {
		shared.apply(t, cluster+crowd.weighted(weights...), "")
		expected := shares(requests, weights...)
		got := crowd.count(t, "turns.example", requests, false)
		for i, e := range expected {
			if math.Abs(float64(got[i])-e) > 6 { // a request per worker, for each connection that nginx ended
				t.Errorf("in turns, weights %v: got %v, expected %.0f", weights, got, expected)
				break
			}
		}
		for _, host := range []string{"hash.example", "cookie.example", "persistent.example"} {
			checkDistribution(t, fmt.Sprint(host, " ", weights), crowd.count(t, host, requests, false), expected)
		}
	}
	// Weight 0 takes requests away, and equal weights are none.
	shared.apply(t, cluster+crowd.weighted(0, 7, 7), "")
	if got := crowd.count(t, "turns.example", 100, false); got[0] != 0 || got[1] != 50 {
		t.Errorf("weights 0, 7, 7: got %v of 100", got)
	}
	if shared.reloads > reloads+1 {
		t.Errorf("%d reloads", shared.reloads-reloads)
	}
}
