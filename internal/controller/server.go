// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/fairway-ingress/fairway/internal/explain"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Server answers over HTTP what the loop knows.
type Server struct {
	Loop *Loop
	// HealthPath is where probes ask, "/healthz" unless a flag says otherwise.
	HealthPath string

	stopping atomic.Bool
}

// Stop makes health and readiness fail, so that no new traffic is sent here.
func (s *Server) Stop() { s.stopping.Store(true) }

// Public is what probes and Prometheus may see.
func (s *Server) Public() http.Handler {
	mux := http.NewServeMux()
	// The predecessor's charts use one path for both probes, so the two say the same.
	mux.HandleFunc("GET "+s.HealthPath, s.ready)
	if s.HealthPath != "/readyz" {
		mux.HandleFunc("GET /readyz", s.ready)
	}
	mux.Handle("GET /metrics", s.Loop.Metrics.Handler())
	return mux
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	state := s.Loop.State()
	switch {
	case s.stopping.Load():
		http.Error(w, "shutting down", http.StatusInternalServerError)
	case !state.Ready && state.Err != nil:
		http.Error(w, "routes are not served yet: "+state.Err.Error(), http.StatusInternalServerError)
	case !state.Ready:
		http.Error(w, "routes are not served yet", http.StatusInternalServerError)
	default:
		fmt.Fprint(w, "ok")
	}
}

// Private is for the command line, on a socket that only the controller's user may open: it shows what tenants wrote.
func (s *Server) Private() http.Handler {
	mux := http.NewServeMux()
	with := func(answer func(http.ResponseWriter, *http.Request, *State)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			state := s.Loop.State()
			if state.Result == nil {
				http.Error(w, "the controller has not built a model yet", http.StatusServiceUnavailable)
				return
			}
			answer(w, r, state)
		}
	}
	mux.HandleFunc("GET /model", with(func(w http.ResponseWriter, _ *http.Request, state *State) { state.Result.Model.Print(w) }))
	mux.HandleFunc("GET /problems", with(func(w http.ResponseWriter, r *http.Request, state *State) {
		problems := state.Result.Model.Problems
		answer(w, r, problems, nil, func(w io.Writer) { model.PrintProblems(w, problems) })
	}))
	mux.HandleFunc("GET /last", with(func(w http.ResponseWriter, _ *http.Request, state *State) {
		fmt.Fprintf(w, "at %s\nready %v\nerror %v\n%+v\n", state.At, state.Ready, state.Err, state.Change)
	}))
	mux.HandleFunc("GET /explain/url", with(func(w http.ResponseWriter, r *http.Request, state *State) {
		e, err := explain.ForURL(state.Result.Model, r.URL.Query().Get("url"))
		answer(w, r, e, err, func(w io.Writer) { e.Print(w) })
	}))
	mux.HandleFunc("GET /explain/ingress", with(func(w http.ResponseWriter, r *http.Request, state *State) {
		e, err := explain.ForIngress(state.Result.Model, r.URL.Query().Get("namespace"), r.URL.Query().Get("name"))
		answer(w, r, e, err, func(w io.Writer) { e.Print(w) })
	}))
	return mux
}

// answer writes JSON when asked for by ?output=json, else text.
func answer(w http.ResponseWriter, r *http.Request, value any, err error, print func(io.Writer)) {
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusNotFound)
	case r.URL.Query().Get("output") == "json":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value) // the client is gone: nothing to be done
	default:
		print(w)
	}
}
