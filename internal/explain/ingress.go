// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Ingress is the answer to "what does this Ingress do".
type Ingress struct {
	Object string `json:"object"`
	// Routes are the paths that the Ingress owns.
	Routes []Route `json:"routes,omitempty"`
	// Shares are the routes of other Ingresses of which this one, a canary, takes a part.
	Shares   []Route   `json:"shares,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
}

// Route is one path in force.
type Route struct {
	Host      string   `json:"host"`
	Match     string   `json:"match"`
	Owner     string   `json:"owner,omitempty"` // where it is another Ingress
	Field     string   `json:"field,omitempty"`
	Outcome   string   `json:"outcome"`
	Backend   string   `json:"backend,omitempty"`
	Endpoints []string `json:"endpoints,omitempty"`
	Canaries  []Canary `json:"canaries,omitempty"`
	// Policy is what is done to the requests on their way.
	Policy       []Setting `json:"policy,omitempty"`
	Certificates []string  `json:"certificates,omitempty"`
}

// ForIngress answers for the Ingress of that namespace and name. An error means that the model has nothing of it.
func (f *Facts) ForIngress(namespace, name string) (*Ingress, error) {
	ref := model.Ref{Kind: "Ingress", Namespace: namespace, Name: name}
	e := &Ingress{Object: ref.String(), Problems: f.problemsOf(ref)}
	for _, h := range f.Model.Hosts {
		for i := range h.Matches {
			e.add(f, ref, h, &h.Matches[i])
		}
	}
	accepted := slices.ContainsFunc(f.Accepted, func(i *netv1.Ingress) bool { return i.Namespace == namespace && i.Name == name })
	if !accepted && e.Routes == nil && e.Shares == nil && e.Problems == nil {
		return nil, fmt.Errorf("%s is not served: there is no such Ingress, or its class is not this controller's", ref)
	}
	return e, nil
}

// add notes what the Ingress has of one match.
func (e *Ingress) add(f *Facts, ref model.Ref, h *model.Host, match *model.Match) {
	if match.Route.Owner == ref {
		e.Routes = append(e.Routes, f.describeRoute(h, match))
	}
	for _, c := range match.Route.Canaries {
		if c.Owner == ref {
			e.Shares = append(e.Shares, Route{
				Host: h.Name, Match: match.Kind.String() + " " + match.Path, Owner: match.Route.Owner.String(), Field: match.Route.Field,
				Outcome: "a share goes to " + c.String(), Backend: c.Backend.String(), Endpoints: f.endpoints(c.Backend),
			})
		}
	}
}

// describeRoute says what becomes of requests without special headers.
func (f *Facts) describeRoute(h *model.Host, match *model.Match) Route {
	r := match.Route
	route := Route{
		Host: h.Name, Match: match.Kind.String() + " " + match.Path, Field: r.Field, Policy: policyOf(r.Policy, f.Model.Settings.Route),
	}
	if h.Name != model.CatchAll {
		route.Certificates = f.certificates(h.Name)
	}
	var e URL
	switch redirect := r.Policy.Redirect; {
	case h.Closed != "":
		e.Outcome = "403: the host is closed: " + h.Closed
	case r.Closed != "":
		e.Outcome = "503: closed: " + r.Closed
	case redirect != nil:
		e.Outcome = fmt.Sprintf("%d to %s", redirect.Code, redirect.URL)
	case match.Slash:
		e.Outcome = "301 to the path and \"/\""
	case r.Backend.IsZero():
		f.describeDefault(&e)
	default:
		f.describeBackend(&e, r, nil)
	}
	route.Outcome, route.Backend, route.Endpoints, route.Canaries = e.Outcome, e.Backend, e.Endpoints, e.Canaries
	if r.Policy.HTTPSRedirect && r.Closed == "" && !match.Slash {
		route.Outcome = fmt.Sprintf("plain HTTP: %d to HTTPS; else %s", f.Model.Settings.HTTPSRedirectCode, route.Outcome)
	}
	return route
}

// Print writes the answer for people.
func (e *Ingress) Print(w io.Writer) {
	fmt.Fprintln(w, e.Object)
	for _, r := range e.Routes {
		r.print(w, "")
	}
	for _, r := range e.Shares {
		r.print(w, "canary on ")
	}
	if e.Routes == nil && e.Shares == nil {
		fmt.Fprintln(w, "  no path of it is served")
	}
	for _, p := range e.Problems {
		fmt.Fprintf(w, "  problem: %s\n", p)
	}
}

func (r *Route) print(w io.Writer, prefix string) {
	fmt.Fprintf(w, "  %s%s %s  %s\n", prefix, r.Host, r.Match, r.Outcome)
	if len(r.Endpoints) > 0 {
		fmt.Fprintf(w, "    endpoints %s\n", strings.Join(r.Endpoints, " "))
	}
	for _, c := range r.Canaries {
		fmt.Fprintf(w, "    canary %s [%s] %s\n", c.Condition, c.Owner, c.Verdict)
	}
	for _, s := range r.Policy {
		if s.Default != "" {
			fmt.Fprintf(w, "    %s\n", s)
		}
	}
}
