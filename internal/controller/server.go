// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fairway-ingress/fairway/internal/explain"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Paths of the private server.
const (
	ModelPath     = "/debug/fairway/model"
	HostsPath     = "/debug/fairway/hosts"
	BackendsPath  = "/debug/fairway/backends"
	ListenersPath = "/debug/fairway/listeners"
	ProblemsPath  = "/debug/fairway/problems"
	LastPath      = "/debug/fairway/last"
	// The paths of the Kong data plane are there when it is chosen.
	KongStatePath = "/debug/fairway/kong/state"
	KongDiffPath  = "/debug/fairway/kong/diff"
	// ExplainPath takes ?url=URL with any number of &header=Name:value, or ?ingress=NAME&namespace=NAMESPACE.
	ExplainPath = "/explain"
)

// StaleHeader is in answers of the private server while the last change is not in force, and says why.
const StaleHeader = "Fairway-Not-In-Force"

// KongChangesHeader is in answers of the Kong data plane, and says how many changes are listed.
const KongChangesHeader = "Fairway-Kong-Changes"

// probePatience is how long the data plane may take to answer a health check.
const probePatience = 900 * time.Millisecond

// Server answers over HTTP what the loop knows.
type Server struct {
	Loop *Loop
	// HealthPath is where probes ask, "/healthz" unless a flag says otherwise.
	HealthPath string
	// Probe asks the data plane whether it is alive; nil is not to ask.
	Probe func(context.Context) error
	// More are further paths of the private server, with what answers there; nil for none.
	More map[string]http.Handler
	// Health asks what is known of endpoints; nil for nothing.
	Health func(context.Context) (model.HealthReport, error)

	stopping atomic.Bool
}

// Stop makes health and readiness fail, so that no new traffic is sent here.
func (s *Server) Stop() { s.stopping.Store(true) }

// Public is what probes and Prometheus may see.
func (s *Server) Public() http.Handler {
	mux := http.NewServeMux()
	// The predecessor's charts use one path for both probes, so the two say the same. Its sub-paths run one check each.
	mux.HandleFunc("GET "+s.HealthPath, s.health)
	mux.HandleFunc("GET "+strings.TrimSuffix(s.HealthPath, "/")+"/nginx-ingress-controller", s.health)
	mux.HandleFunc("GET "+strings.TrimSuffix(s.HealthPath, "/")+"/ping", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	if s.HealthPath != "/readyz" {
		mux.HandleFunc("GET /readyz", s.health)
	}
	mux.Handle("GET /metrics", s.Loop.Metrics.Handler())
	return mux
}

// health says "ok", or what is wrong in the form that the predecessor, like Kubernetes, gives.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	err := s.check(r.Context())
	switch {
	case err != nil:
		http.Error(w, "[+]ping ok\n[-]nginx-ingress-controller failed: "+err.Error()+"\nhealthz check failed", http.StatusInternalServerError)
	case r.URL.Query().Has("verbose"):
		fmt.Fprint(w, "[+]ping ok\n[+]nginx-ingress-controller ok\nhealthz check passed\n")
	default:
		fmt.Fprint(w, "ok")
	}
}

// check says why no traffic should come here, or nil.
func (s *Server) check(ctx context.Context) error {
	state := s.Loop.State()
	switch {
	case s.stopping.Load():
		return errors.New("shutting down")
	case !state.Ready && state.Err != nil:
		return fmt.Errorf("routes are not served yet: %w", state.Err)
	case !state.Ready:
		return errors.New("routes are not served yet")
	case s.Probe == nil:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	if err := s.Probe(ctx); err != nil {
		return fmt.Errorf("nginx does not answer: %w", err)
	}
	return nil
}

// answer is what can be printed for people and encoded for programs.
type answer interface{ Print(io.Writer) }

// Private is for the command line, on a socket that only the controller's user may open: it shows what tenants wrote.
func (s *Server) Private() http.Handler {
	mux := http.NewServeMux()
	for path, ask := range map[string]func(*explain.Facts) answer{
		ModelPath:     func(f *explain.Facts) answer { return f.ListModel() },
		HostsPath:     func(f *explain.Facts) answer { return f.ListHosts() },
		ListenersPath: func(f *explain.Facts) answer { return f.ListListeners() },
		ProblemsPath:  func(f *explain.Facts) answer { return f.Problems },
	} {
		mux.HandleFunc("GET "+path, s.with(func(f *explain.Facts, _ *http.Request) (answer, error) { return ask(f), nil }))
	}
	mux.HandleFunc("GET "+BackendsPath, s.with(s.listBackends))
	mux.HandleFunc("GET "+ExplainPath, s.with(explainRequest))
	for path, handler := range s.More {
		mux.Handle("GET "+path, handler)
	}
	mux.HandleFunc("GET "+LastPath, func(w http.ResponseWriter, r *http.Request) { write(w, r, newLast(s.Loop.State())) })
	return mux
}

// with hands over what is in force.
func (s *Server) with(ask func(*explain.Facts, *http.Request) (answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		state := s.Loop.State()
		if state.Err != nil {
			w.Header().Set(StaleHeader, strings.ReplaceAll(state.Err.Error(), "\n", " "))
		}
		result := cmp.Or(state.InForce, state.Result)
		if result == nil {
			http.Error(w, "the controller has not built a model yet", http.StatusServiceUnavailable)
			return
		}
		value, err := ask(&explain.Facts{Model: result.Model, Accepted: result.Accepted, Problems: state.Problems, HealthPath: s.HealthPath}, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		write(w, r, value)
	}
}

// listBackends lists the backends with what is known of their endpoints. Without an answer of the data plane it is what checks found.
func (s *Server) listBackends(f *explain.Facts, r *http.Request) (answer, error) {
	if s.Health != nil {
		ctx, cancel := context.WithTimeout(r.Context(), probePatience)
		defer cancel()
		report, _ := s.Health(ctx)
		f.Out = report.Out
	}
	return f.ListBackends(), nil
}

func explainRequest(f *explain.Facts, r *http.Request) (answer, error) {
	query := r.URL.Query()
	if name := query.Get("ingress"); name != "" {
		return f.ForIngress(query.Get("namespace"), name)
	}
	if port := query.Get("port"); port != "" {
		return f.ForPort(port)
	}
	header, err := explain.ParseHeader(query["header"])
	if err != nil {
		return nil, err
	}
	return f.ForURL(explain.Request{URL: query.Get("url"), Header: header})
}

// last is what the loop did last.
type last struct {
	Ready      bool          `json:"ready"`
	Error      string        `json:"error,omitempty"`
	At         time.Time     `json:"at,omitzero"`
	Generation uint64        `json:"generation"`
	Set        int           `json:"set"`
	Deleted    int           `json:"deleted"`
	Bytes      int           `json:"bytes"`
	Reload     bool          `json:"reload"`
	Reasons    []string      `json:"reasons,omitempty"`
	Built      time.Duration `json:"builtNanoseconds"`
	Took       time.Duration `json:"tookNanoseconds"`
	Ingresses  int           `json:"ingresses"`
}

func newLast(s *State) last {
	c := s.Change
	l := last{
		Ready: s.Ready, At: s.At, Generation: c.Generation, Set: c.Set, Deleted: c.Deleted, Bytes: c.Bytes,
		Reload: c.Reload, Reasons: c.Reasons, Built: s.Built, Took: c.Took,
	}
	if s.Err != nil {
		l.Error = s.Err.Error()
	}
	if s.Snapshot != nil {
		l.Ingresses = len(s.Snapshot.Ingresses)
	}
	return l
}

// Print writes a line per fact.
func (l last) Print(w io.Writer) {
	fmt.Fprintf(w, "ready       %v\n", l.Ready)
	if l.Error != "" {
		fmt.Fprintf(w, "error       %s\n", l.Error)
	}
	fmt.Fprintf(w, "ingresses   %d\n", l.Ingresses)
	fmt.Fprintf(w, "last build  %s\n", l.Built)
	fmt.Fprintf(w, "last change %s: generation %d, %d set, %d deleted, %d bytes, took %s\n",
		l.At.UTC().Format(time.RFC3339), l.Generation, l.Set, l.Deleted, l.Bytes, l.Took)
	if l.Reload {
		fmt.Fprintf(w, "reload      %s\n", strings.Join(l.Reasons, ", "))
	}
}

// write encodes JSON when asked for by ?output=json, else prints text.
func write(w http.ResponseWriter, r *http.Request, value answer) {
	if r.URL.Query().Get("output") == "json" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value) // the client is gone: nothing to be done
		return
	}
	value.Print(w)
}
