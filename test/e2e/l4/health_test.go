// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/fairway-ingress/fairway/test/freeport"
)

// TestChecksOfUDP asks two UDP servers at a port of their own how they are: the one that says it is sick gets no sessions until it is well.
func TestChecksOfUDP(t *testing.T) {
	var sick atomic.Bool
	health := freeport.Take(t)
	for i, address := range []string{"127.0.0.2", "127.0.0.3"} {
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", address, health))
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if i == 0 && sick.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { _ = server.Close() })
	}
	port := freeport.Take(t)
	o := toUDP(port, startUDP(t, "127.0.0.2:0", answers("two", 1)).address(), startUDP(t, "127.0.0.3:0", answers("three", 1)).address())
	o.judged = fmt.Sprintf(`fairway.dev/health-check-type: HTTP, fairway.dev/health-check-port: "%d", fairway.dev/health-check-interval: 500ms, `+
		`fairway.dev/health-check-unhealthy-threshold: "1", fairway.dev/health-check-healthy-threshold: "1"`, health)
	c := start(t, o)
	client := dialUDP(t, "127.0.0.1", port)
	client.eventuallyAsk("x")
	seen := func() map[string]int {
		counts := map[string]int{}
		for range 8 {
			counts[client.ask("x")]++
		}
		return counts
	}
	both := func() bool { return len(seen()) == 2 }
	c.Eventually("both take sessions", both)
	sick.Store(true)
	c.Eventually("the sick one takes no sessions", func() bool { return len(seen()) == 1 })
	if got := seen(); len(got) != 1 {
		t.Errorf("while one is sick, answers are of %v", got)
	}
	sick.Store(false)
	c.Eventually("both take sessions again", both)
}
