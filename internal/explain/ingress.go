// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Ingress is the answer to "what does this Ingress do".
type Ingress struct {
	Object string `json:"object"`
	// Routes are the paths that the Ingress owns, "host match -> outcome".
	Routes []Route `json:"routes,omitempty"`
	// Shares are the routes of other Ingresses of which this one, a canary, takes a part.
	Shares   []Route  `json:"shares,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

// Route is one path in force.
type Route struct {
	Host      string   `json:"host"`
	Match     string   `json:"match"`
	Field     string   `json:"field,omitempty"`
	Outcome   string   `json:"outcome"`
	Endpoints []string `json:"endpoints,omitempty"`
}

// ForIngress answers for the Ingress of that namespace and name.
func ForIngress(m *model.Model, namespace, name string) (*Ingress, error) {
	ref := model.Ref{Kind: "Ingress", Namespace: namespace, Name: name}
	e := &Ingress{Object: ref.String(), Problems: problemsOf(m, ref)}
	for _, h := range m.Hosts {
		for _, match := range h.Matches {
			if match.Route.Owner == ref {
				e.Routes = append(e.Routes, describe(m, h, match))
			}
			for _, c := range match.Route.Canaries {
				if c.Owner == ref {
					e.Shares = append(e.Shares, Route{Host: h.Name, Match: match.Kind.String() + " " + match.Path, Outcome: c.String()})
				}
			}
		}
	}
	if e.Routes == nil && e.Shares == nil && e.Problems == nil {
		return nil, fmt.Errorf("%s is not served: there is no such Ingress, or its class is not this controller's", ref)
	}
	return e, nil
}

func describe(m *model.Model, h *model.Host, match model.Match) Route {
	r := match.Route
	var e URL
	route := Route{Host: h.Name, Match: match.Kind.String() + " " + match.Path, Field: r.Field}
	switch {
	case r.Closed != "":
		route.Outcome = "503: closed: " + r.Closed
	case match.Slash:
		route.Outcome = "301 to the path and \"/\""
	case r.Backend.IsZero():
		route.Outcome = e.defaultBackend(m)
	default:
		route.Outcome = e.proxied(m, r)
	}
	if r.Policy.HTTPSRedirect && r.Closed == "" {
		route.Outcome = fmt.Sprintf("plain HTTP: %d to HTTPS; else %s", m.Settings.HTTPSRedirectCode, route.Outcome)
	}
	route.Endpoints = e.Endpoints
	return route
}

// Print writes the answer for people.
func (e *Ingress) Print(w io.Writer) {
	fmt.Fprintln(w, e.Object)
	for _, r := range e.Routes {
		fmt.Fprintf(w, "  %s %s  %s\n", r.Host, r.Match, r.Outcome)
		if len(r.Endpoints) > 0 {
			fmt.Fprintf(w, "    endpoints %s\n", strings.Join(r.Endpoints, " "))
		}
	}
	for _, r := range e.Shares {
		fmt.Fprintf(w, "  shares %s %s  %s\n", r.Host, r.Match, r.Outcome)
	}
	for _, p := range e.Problems {
		fmt.Fprintf(w, "  problem: %s\n", p)
	}
}
