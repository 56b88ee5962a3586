// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// scraped gives the lines of a scrape that begin so.
func scraped(m *Metrics, beginning string) []string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	var found []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, beginning) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func TestLeadership(t *testing.T) {
	m := New(Options{Namespace: "fairway", Class: "c", Pod: "fairway-0", Requests: DefaultRequestOptions()})
	if !m.options.Leads() {
		t.Error("without an election each replica reports")
	}
	set := m.Leadership("the-lease")
	const family = prefix + "leader_election_status"
	if found := scraped(m, family); len(found) != 0 || m.options.Leads() {
		t.Errorf("before the first term: %v, leads %v", found, m.options.Leads())
	}
	const labels = `{controller_class="c",controller_namespace="fairway",controller_pod="fairway-0",name="the-lease"} `
	for leading, value := range map[bool]string{true: "1", false: "0"} {
		set(leading)
		if found := scraped(m, family); len(found) != 1 || found[0] != family+labels+value {
			t.Errorf("leading %v: %v", leading, found)
		}
		if m.options.Leads() != leading {
			t.Errorf("leads %v, want %v", m.options.Leads(), leading)
		}
	}
	quiet := New(Options{})
	quiet.Leadership("the-lease")(true)
	if found := scraped(quiet, prefix); len(found) != 0 {
		t.Errorf("without --enable-metrics: %v", found)
	}
}

func TestStatusWrites(t *testing.T) {
	m := New(Options{})
	count := m.StatusWrites(func() int { return 7 })
	count(nil)
	count(nil)
	count(errors.New("refused"))
	got := strings.Join(scraped(m, "fairway_status"), "\n")
	want := "fairway_status_contested 7\nfairway_status_writes_total{result=\"error\"} 1\nfairway_status_writes_total{result=\"ok\"} 2"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
