// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Backends are the backends of a model.
type Backends []Backend

// Backend is one of them.
type Backend struct {
	Name      string   `json:"name"` // namespace/service/port
	Endpoints []string `json:"endpoints"`
	Routes    int      `json:"routes"` // paths that lead to it, as backend or canary
	// Draining are about to go and keep the clients that they have. Out are those of Endpoints that are to get no requests; they get some all the
	// same when Panic is set, as too few others are left. Judged tells whether anybody looks.
	Draining []string `json:"draining,omitempty"`
	Judged   bool     `json:"judged,omitempty"`
	Out      []Out    `json:"out,omitempty"`
	Panic    bool     `json:"panic,omitempty"`
}

// Out is an endpoint that is to get no requests.
type Out struct {
	Endpoint string    `json:"endpoint"`
	State    string    `json:"state"` // unhealthy or ejected
	Why      string    `json:"why,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Until    time.Time `json:"until,omitzero"`
}

// ListBackends lists the backends.
func (f *Facts) ListBackends() Backends {
	routes := map[model.BackendID]int{}
	for _, h := range f.Model.Hosts {
		for _, m := range h.Matches {
			routes[m.Route.Backend]++
			for _, c := range m.Route.Canaries {
				routes[c.Backend]++
			}
		}
	}
	out := map[model.BackendID][]model.EndpointHealth{}
	for _, e := range f.Out {
		out[e.Backend] = append(out[e.Backend], e)
	}
	list := Backends{}
	for _, b := range f.Model.Backends {
		endpoints := f.endpoints(b.ID)
		if endpoints == nil {
			endpoints = []string{}
		}
		backend := Backend{Name: b.ID.String(), Endpoints: endpoints, Routes: routes[b.ID], Judged: b.Health != nil}
		for _, e := range b.Draining {
			backend.Draining = append(backend.Draining, e.Describe())
		}
		backend.addOut(b, out[b.ID])
		list = append(list, backend)
	}
	return list
}

// addOut notes the endpoints of b that are to get no requests.
func (l *Backend) addOut(b *model.Backend, out []model.EndpointHealth) {
	lost := map[netip.AddrPort]bool{}
	for _, e := range out {
		if !slices.ContainsFunc(b.Endpoints, func(one model.Endpoint) bool { return one.AddrPort == e.Endpoint }) {
			continue // it went
		}
		lost[e.Endpoint] = true
		l.Out = append(l.Out, Out{Endpoint: e.Endpoint.String(), State: e.State.String(), Why: e.Why, Since: e.Since, Until: e.Until})
	}
	if len(lost) > 0 {
		_, _, l.Panic = b.Choose(func(e model.Endpoint) bool { return lost[e.AddrPort] })
	}
}

// health says in short how the endpoints are.
func (l *Backend) health() string {
	var words []string
	for _, o := range l.Out {
		words = append(words, o.Endpoint+" "+o.State)
	}
	text := "-"
	switch {
	case len(words) > 0:
		text = few(words)
	case l.Judged:
		text = "well"
	}
	if l.Panic {
		text += "; too few are left, so all are used"
	}
	if len(l.Draining) > 0 {
		text = strings.TrimPrefix(text+"; ", "-; ") + "draining " + few(l.Draining)
	}
	return text
}

// Print writes a table.
func (l Backends) Print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "BACKEND\tPATHS\tENDPOINTS\tHEALTH")
	for _, b := range l {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", b.Name, b.Routes, few(b.Endpoints), b.health())
	}
	_ = t.Flush()
}
