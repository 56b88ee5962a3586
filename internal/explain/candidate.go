// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Candidate is a rule that did not get the request.
type Candidate struct {
	Match string `json:"match"`
	Owner string `json:"owner"`
	Why   string `json:"why"`
	// Matches tells whether it would have taken the request if nothing had gone before it.
	Matches bool `json:"matches"`
}

// candidates gives the other rules of the host: first those that match too, then the others, each in the order in which they are tried.
func candidates(host *model.Host, chosen *model.Match, path string) []Candidate {
	var later, others []Candidate
	for i := range host.Matches {
		other := &host.Matches[i]
		if other == chosen {
			continue
		}
		c := Candidate{Match: other.Kind.String() + " " + other.Path, Owner: other.Route.Owner.String(), Why: "does not match the path"}
		if (&model.Host{Matches: host.Matches[i : i+1]}).Find(path) == nil {
			others = append(others, c)
			continue
		}
		c.Why, c.Matches = "matches too, but "+whyLater(chosen, other), true
		later = append(later, c)
	}
	return append(later, others...)
}

func whyLater(chosen, other *model.Match) string {
	switch {
	case other.Kind == model.Regex:
		return "is tried later"
	case chosen.Kind == model.Exact:
		return "an exact path goes before a prefix"
	}
	return "a longer prefix goes before it"
}

// shadowed gives the rules of the host that were refused because an older one has their path.
func (f *Facts) shadowed(host, path string) []Candidate {
	var list []Candidate
	for _, p := range f.Problems {
		if p.Reason != model.ReasonShadowed || p.Object.Kind != "Ingress" {
			continue
		}
		rule, path, ok := f.ruleAt(p, path)
		if ok && rule == host {
			list = append(list, Candidate{Match: path, Owner: p.Object.String() + " " + p.Field, Why: p.Message, Matches: true})
		}
	}
	return list
}

// ruleAt gives the host and the path of the rule that a problem is about, if a request for a path could concern it.
func (f *Facts) ruleAt(p Problem, request string) (host, path string, ok bool) {
	i := slices.IndexFunc(f.Accepted, func(i *netv1.Ingress) bool { return i.Namespace == p.Object.Namespace && i.Name == p.Object.Name })
	if i < 0 {
		return "", "", false
	}
	spec := f.Accepted[i].Spec
	var rule, at int
	if n, _ := fmt.Sscanf(p.Field, "spec.rules[%d].http.paths[%d]", &rule, &at); n != 2 || rule >= len(spec.Rules) {
		return "", "", false
	}
	http := spec.Rules[rule].HTTP
	if http == nil || at >= len(http.Paths) {
		return "", "", false
	}
	host, path = strings.ToLower(spec.Rules[rule].Host), http.Paths[at].Path
	if host == "" {
		host = model.CatchAll
	}
	if path == "" {
		path = "/"
	}
	kind := netv1.PathTypeImplementationSpecific
	if http.Paths[at].PathType != nil {
		kind = *http.Paths[at].PathType
	}
	concerns := kind == netv1.PathTypeImplementationSpecific || request == path ||
		kind == netv1.PathTypePrefix && strings.HasPrefix(request, strings.TrimSuffix(path, "/")+"/")
	return host, string(kind) + " " + path, concerns
}

// otherHosts gives the less exact hosts that cover the name. Their rules are not tried: the most exact host has the name to itself.
func (f *Facts) otherHosts(host *model.Host, name string) []Candidate {
	var list []Candidate
	for _, other := range []string{model.Wildcard(name), model.CatchAll} {
		h := f.Model.Host(other)
		if other == "" || h == nil || h == host || len(h.Matches) == 0 || host.Name == model.CatchAll {
			continue
		}
		list = append(list, Candidate{
			Match: "host " + other, Owner: h.Matches[0].Route.Owner.String(),
			Why: "covers the name too, but no path of it is tried: " + host.Name + " has the name to itself",
		})
	}
	return list
}
