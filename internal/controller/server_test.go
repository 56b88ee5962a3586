// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/source"
)

func ask(handler http.Handler, path string) (int, string, http.Header) {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String(), w.Header()
}

// ready makes the loop know a round with one Ingress.
func ready(t *testing.T, s *stand) {
	t.Helper()
	s.objects.hold("a.example")
	if err := s.round(t.Context(), retryMin); err != nil {
		t.Fatal(err)
	}
}

func TestHealth(t *testing.T) {
	s := newStand()
	var dead error
	server := &Server{Loop: s.Loop, HealthPath: "/healthz", Probe: func(context.Context) error { return dead }}
	check := func(when string, status int, text string) {
		t.Helper()
		for _, path := range []string{"/healthz", "/readyz", "/healthz/nginx-ingress-controller"} {
			if got, body, _ := ask(server.Public(), path); got != status || !strings.Contains(body, text) {
				t.Errorf("%s: %s gives %d %q, want %d %q", when, path, got, body, status, text)
			}
		}
		if got, _, _ := ask(server.Public(), "/healthz/ping"); got != 200 {
			t.Errorf("%s: ping gives %d", when, got)
		}
	}
	check("before the first round", 500, "routes are not served yet")
	s.plane.will(0, 1)
	_ = s.round(t.Context(), retryMin) // that it fails is the point
	check("after a failed first round", 500, "routes are not served yet: refused")
	ready(t, s)
	check("in force", 200, "ok")
	s.plane.will(0, 1)
	s.objects.hold("b.example")
	_ = s.round(t.Context(), retryMin)
	check("a later failure", 200, "ok")
	dead = errors.New("connection refused")
	check("nginx is away", 500, "nginx does not answer: connection refused")
	dead = nil
	server.Stop()
	check("stopping", 500, "shutting down")
}

func TestPublicShowsNothingOfTenants(t *testing.T) {
	s := newStand()
	ready(t, s)
	public := (&Server{Loop: s.Loop, HealthPath: "/healthz"}).Public()
	for _, path := range []string{ModelPath, ProblemsPath, LastPath, HostsPath, BackendsPath, ExplainPath + "?url=a.example", "/debug/pprof/", "/"} {
		if status, _, _ := ask(public, path); status != 404 {
			t.Errorf("%s gives %d, want 404", path, status)
		}
	}
	if _, body, _ := ask(public, "/metrics"); strings.Contains(body, "a.example") || !strings.Contains(body, "fairway_routes 1") {
		t.Errorf("metrics:\n%s", body)
	}
}

func TestPrivate(t *testing.T) {
	s := newStand()
	private := (&Server{Loop: s.Loop, HealthPath: "/healthz"}).Private()
	if status, body, _ := ask(private, ModelPath); status != 503 {
		t.Errorf("before the first round: %d %s", status, body)
	}
	ready(t, s)
	for path, want := range map[string]string{
		ModelPath:                               "host a.example\n",
		HostsPath:                               "a.example  1  ",
		BackendsPath:                            "default/web/80  1",
		ProblemsPath:                            "MissingService",
		ProblemsPath + "?output=json":           `"reason":"MissingService"`,
		LastPath:                                "generation 1",
		LastPath + "?output=json":               `"generation":1`,
		ExplainPath + "?url=http://a.example/x": "503: backend default/web/80 has no endpoints",
		ExplainPath + "?namespace=default&ingress=a.example": "Ingress default/a.example\n",
	} {
		status, body, header := ask(private, path)
		if squeezed := strings.Join(strings.Fields(body), " "); status != 200 || !strings.Contains(squeezed, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%s gives %d, without %q:\n%s", path, status, want, body)
		}
		if header.Get(StaleHeader) != "" {
			t.Errorf("%s is stale", path)
		}
	}
	for _, path := range []string{ExplainPath + "?url=ftp://a", ExplainPath + "?namespace=default&ingress=none", ExplainPath + "?url=a.example&header=x"} {
		if status, _, _ := ask(private, path); status != 404 {
			t.Errorf("%s gives %d, want 404", path, status)
		}
	}
}

// While a change is refused, answers are about what is in force, and say so.
func TestPrivateSaysWhatIsInForce(t *testing.T) {
	s := newStand()
	private := (&Server{Loop: s.Loop, HealthPath: "/healthz"}).Private()
	ready(t, s)
	s.plane.will(0, 1)
	s.objects.set(&source.Snapshot{})
	_ = s.round(t.Context(), retryMin)
	if _, body, header := ask(private, ModelPath); !strings.Contains(body, "a.example") || header.Get(StaleHeader) != "refused" {
		t.Errorf("%s\n%s", header, body)
	}
	if _, body, _ := ask(private, LastPath); !strings.Contains(body, "refused") {
		t.Errorf("last:\n%s", body)
	}
}
