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
	m := New("1.2.3")
	built := &model.Model{
		Hosts:    []*model.Host{{Name: "a"}, {Name: "b", Matches: make([]model.Match, 3)}},
		Backends: []*model.Backend{{Endpoints: []model.Endpoint{netip.MustParseAddrPort("10.0.0.1:80")}}},
	}
	m.Round(built, map[string]int{model.ReasonShadowed: 2}, time.Millisecond, model.Change{Generation: 7, Reload: true, Reasons: []string{"Shape"}}, nil)
	expect(t, m, `fairway_build_info{version="1.2.3"} 1`, "fairway_generation 7", `fairway_reload_total{reason="Shape"} 1`,
		`fairway_problems{reason="Shadowed"} 2`, "fairway_hosts 2", "fairway_routes 3", "fairway_backends 1", "fairway_endpoints 1",
		"fairway_push_duration_seconds_count 1", "fairway_build_duration_seconds_count 1", "fairway_apply_failures_total 0")

	// A change that is not in force leaves the numbers of what is.
	m.Round(&model.Model{}, nil, time.Millisecond, model.Change{}, errors.New("refused"))
	expect(t, m, "fairway_generation 7", `fairway_problems{reason="Shadowed"} 0`, "fairway_hosts 2", "fairway_apply_failures_total 1",
		"fairway_push_duration_seconds_count 1", "fairway_build_duration_seconds_count 2")
}
