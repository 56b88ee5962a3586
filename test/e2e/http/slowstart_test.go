// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// slowly are the rules of the ways to balance, each with a slow start.
func slowly(took string, names ...string) string {
	text := ""
	for _, name := range names {
		annotations := fmt.Sprintf("fairway.dev/slow-start: %q", took)
		if ways[name] != "" {
			annotations += ", " + ways[name]
		}
		text += rule(name, name+".example", "/", "crowd", annotations)
	}
	return text
}

// TestSlowStart lets an endpoint join three others whose slow start takes an hour: it gets little. It gets its full share where it is there from the
// start, and where all are new.
func TestSlowStart(t *testing.T) {
	const requests = 400
	for _, c := range []struct {
		what            string
		weights         []int
		atLeast, atMost int // requests to endpoint 3
		previous        func(*crowd) string
	}{
		{"nothing was there", []int{1, 1, 1, 1}, 50, 150, nil},
		{"one joins", []int{1, 1, 1, 1}, 0, 40, func(c *crowd) string { return c.manifests(3) }},
		{"one joins, of great weight", []int{1, 1, 1, 7}, 0, 160, func(c *crowd) string { return c.manifests(3) }},
		{"its weight changes", []int{1, 1, 1, 1}, 50, 150, func(c *crowd) string { return c.weighted(1, 1, 1, 7) }},
	} {
		for _, name := range []string{"round-robin", "random", "least-conn", "p2c", "persistent"} {
			crowd := newCrowd(t, 4) // whose endpoints no worker knows
			host := name + ".example"
			if c.previous != nil {
				shared.apply(t, slowly("1h", name)+c.previous(crowd), "")
				crowd.count(t, host, 20, true) // both workers know them
			}
			shared.apply(t, slowly("1h", name)+crowd.weighted(c.weights...), "")
			if got := crowd.count(t, host, requests, true); got[3] < c.atLeast || got[3] > c.atMost {
				t.Errorf("%s, %s: got %v, the last should be from %d to %d", c.what, name, got, c.atLeast, c.atMost)
			}
		}
	}
}

// TestSlowStartOfService lets the Service say it: for a route that says nothing, not for one that has its own.
func TestSlowStartOfService(t *testing.T) {
	crowd := newCrowd(t, 2)
	manifests := func(without int) string {
		text := rule("silent", "silent.example", "/", "crowd", "") + slowly("1s", "round-robin") + crowd.manifests(without)
		return strings.Replace(text, "kind: Service, metadata: {name: crowd}", `kind: Service, metadata: {name: crowd, annotations: {fairway.dev/slow-start: "1h"}}`, 1)
	}
	shared.apply(t, manifests(1), "")
	for _, host := range []string{"silent.example", "round-robin.example"} {
		crowd.count(t, host, 20, true)
	}
	shared.apply(t, manifests(-1), "")
	time.Sleep(1100 * time.Millisecond) // the route's own is over
	if got := crowd.count(t, "round-robin.example", 100, true); got[1] < 40 {
		t.Errorf("a route with its own slow start: %v", got)
	}
	if got := crowd.count(t, "silent.example", 200, true); got[1] > 40 {
		t.Errorf("a route with that of the Service: %v", got)
	}
}

// TestSlowStartRamp sends requests from the moment when an endpoint joins another one until its slow start is over: its share grows.
func TestSlowStartRamp(t *testing.T) {
	const took = 2 * time.Second
	crowd := newCrowd(t, 2)
	rules := slowly(took.String(), "round-robin")
	shared.apply(t, rules+crowd.manifests(1), "")
	crowd.count(t, "round-robin.example", 20, true)
	shared.apply(t, rules+crowd.manifests(-1), "")
	begin := time.Now()
	// Requests by the quarter of the slow start in which they were sent, the fifth being after it: all, and those to the one that joined.
	var all, joined [5]int
	for age := time.Duration(0); age < took*3/2; age = time.Since(begin) {
		quarter := min(int(age*4/took), 4)
		all[quarter]++
		if askFor(t, "round-robin.example") == "1" {
			joined[quarter]++
		}
	}
	shares := make([]float64, 5)
	for i := range shares {
		shares[i] = float64(joined[i]) / float64(all[i])
	}
	t.Logf("shares by quarters of the slow start: %.2f of %d requests", shares, all)
	if slices.Min(all[:]) < 20 {
		t.Skip("too few requests to judge by")
	}
	if shares[0] > 0.6*shares[4] || shares[0] > shares[2] || shares[1] > shares[3]+0.1 || shares[4] < 0.4 || joined[0] == 0 {
		t.Errorf("the share of the endpoint that joined does not grow evenly: %.2f", shares)
	}
}

// askFor sends a request on a connection of its own and gives the name of who answers.
func askFor(t *testing.T, host string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", shared.httpPort), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host, r.Close = host, true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var saw seen
	if err := json.NewDecoder(response.Body).Decode(&saw); err != nil {
		t.Fatal(err)
	}
	return saw.Backend
}
