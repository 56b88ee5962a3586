// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// epoch is a time like any other.
var epoch = time.Unix(1700000000, 0)

func expect(t *testing.T, m *Metrics, lines ...string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range lines {
		if !strings.Contains(w.Body.String(), "\n"+line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
}

func TestRound(t *testing.T) {
	m := New(Options{Version: "1.2.3"})
	built := &model.Model{
		Hosts:    []*model.Host{{Name: "a"}, {Name: "b", Matches: make([]model.Match, 3)}},
		Backends: []*model.Backend{{Endpoints: []model.Endpoint{model.NewEndpoint(netip.MustParseAddrPort("10.0.0.1:80"))}}},
	}
	now := time.Now()
	m.Round(Round{
		Model: built, Problems: map[string]int{model.ReasonShadowed: 2}, Built: time.Millisecond, Seen: now.Add(-time.Second),
		Change: model.Change{Generation: 7, Reload: true, Reasons: []string{"Shape"}, Bytes: 300},
	}, now)
	expect(t, m, `fairway_build_info{version="1.2.3"} 1`, "fairway_generation 7", `fairway_reload_total{reason="Shape"} 1`,
		`fairway_problems{reason="Shadowed"} 2`, "fairway_hosts 2", "fairway_routes 3", "fairway_backends 1", "fairway_endpoints 1",
		"fairway_push_duration_seconds_count 1", "fairway_build_duration_seconds_count 1", "fairway_apply_failures_total 0", "fairway_propagation_seconds_sum 1", "fairway_push_bytes_sum 300")

	// A change that is not in force leaves the numbers of what is.
	m.Round(Round{Model: &model.Model{}, Built: time.Millisecond, Err: errors.New("refused")}, now)
	expect(t, m, "fairway_generation 7", `fairway_problems{reason="Shadowed"} 0`, "fairway_hosts 2", "fairway_apply_failures_total 1",
		"fairway_push_duration_seconds_count 1", "fairway_build_duration_seconds_count 2")
}

// TestDeletedIngress lets the series of a deleted Ingress go, also when the data plane still tells of its requests.
func TestDeletedIngress(t *testing.T) {
	m := New(Options{Requests: DefaultRequestOptions()})
	m.Round(Round{Model: &model.Model{}, Accepted: ingresses("a", "b")}, epoch)
	both := []model.Traffic{traffic("a", "GET", "200"), traffic("b", "GET", "200")}
	m.old.requests.add(both)
	m.Round(Round{Model: &model.Model{}, Accepted: ingresses("b")}, epoch)
	m.old.requests.add(both)
	if counted, _ := sums(t, m); counted != 2 {
		t.Errorf("%d requests are counted, want the 2 of the Ingress that is left", counted)
	}
	m.Round(Round{Model: &model.Model{}, Accepted: ingresses()}, epoch)
	if counted, _ := sums(t, m); counted != 0 {
		t.Errorf("%d requests are counted when no Ingress is left", counted)
	}
}
