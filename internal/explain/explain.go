// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package explain says in words what a model does with a request or an Ingress. In go a model and a question, out comes an answer that
// prints as text or JSON. It runs model.Find, the reference for what the data plane does, and nothing else: no network, no clock.
package explain

import (
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// URL is the answer to "what happens to a request for this URL".
type URL struct {
	URL  string `json:"url"`
	Host string `json:"host"` // the host that answers: a name, a wildcard or "_"
	// Path is the request's path as matching sees it: decoded, dot segments resolved, slashes merged.
	Path       string      `json:"path"`
	Match      string      `json:"match,omitempty"` // "prefix /foo/"; empty when no rule matches
	Owner      string      `json:"owner,omitempty"` // the Ingress whose rule wins
	Field      string      `json:"field,omitempty"`
	Outcome    string      `json:"outcome"`
	Backend    string      `json:"backend,omitempty"`
	Endpoints  []string    `json:"endpoints,omitempty"`
	Canaries   []string    `json:"canaries,omitempty"`
	TLS        []string    `json:"tls,omitempty"`        // Secrets of the certificates for the name; empty: the default certificate
	Candidates []Candidate `json:"candidates,omitempty"` // the other rules of the host, in the order in which they are tried
	Problems   []string    `json:"problems,omitempty"`
}

// Candidate is a rule that was not chosen.
type Candidate struct {
	Match string `json:"match"`
	Owner string `json:"owner"`
	Why   string `json:"why"`
}

// ForURL answers for a URL; one without a scheme counts as http.
func ForURL(m *model.Model, text string) (*URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("parse URL %q: write http://HOST/PATH or https://HOST/PATH", text)
	}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	e := &URL{URL: text, Path: normalize(u.Path)}
	if u.Scheme == "https" {
		e.TLS = certificates(m, name)
	}
	host, match := m.Find(name, e.Path)
	if host == nil {
		e.Host, e.Outcome = model.CatchAll, "404: there is no host at all"
		return e, nil
	}
	e.Host = host.Name
	e.describe(m, match, u)
	e.listCandidates(host, match)
	return e, nil
}

// normalize makes of a decoded path what nginx makes of it.
func normalize(p string) string {
	if p == "" {
		return "/"
	}
	clean := path.Clean("/" + p)
	if clean != "/" && (strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..")) {
		clean += "/"
	}
	return clean
}

func (e *URL) describe(m *model.Model, match *model.Match, u *url.URL) {
	if match == nil {
		e.Outcome = "no rule matches; " + e.defaultBackend(m)
		return
	}
	r := match.Route
	e.Match, e.Owner, e.Field = match.Kind.String()+" "+match.Path, r.Owner.String(), r.Field
	e.Problems = problemsOf(m, r.Owner)
	e.Backend = r.Backend.String()
	switch {
	case r.Closed != "":
		e.Outcome = "503: the route is closed: " + r.Closed
	case match.Slash:
		e.Outcome = "301 to " + u.EscapedPath() + "/"
	case r.Policy.HTTPSRedirect && u.Scheme == "http":
		e.Outcome = fmt.Sprintf("%d to https://%s%s", m.Settings.HTTPSRedirectCode, u.Hostname(), u.EscapedPath())
	case r.Backend.IsZero():
		e.Backend = ""
		e.Outcome = e.defaultBackend(m)
	default:
		e.Outcome = e.proxied(m, r)
	}
}

func (e *URL) proxied(m *model.Model, r *model.Route) string {
	for _, c := range r.Canaries {
		e.Canaries = append(e.Canaries, c.String()+" ["+c.Owner.Namespace+"/"+c.Owner.Name+"]")
	}
	backend := m.Backend(r.Backend)
	if backend == nil || len(backend.Endpoints) == 0 {
		return "503: backend " + r.Backend.String() + " has no endpoints"
	}
	for _, endpoint := range backend.Endpoints {
		e.Endpoints = append(e.Endpoints, endpoint.String())
	}
	outcome := fmt.Sprintf("proxied by %s to backend %s", r.Policy.Protocol, r.Backend)
	if w := r.Policy.Rewrite; w != nil {
		outcome += fmt.Sprintf(", path rewritten by %q to %q", w.Pattern, w.Target)
	}
	if r.Policy.Host != "" {
		outcome += ", Host " + r.Policy.Host
	}
	return outcome
}

func (e *URL) defaultBackend(m *model.Model) string {
	if b := m.Backend(m.DefaultBackend); b != nil && len(b.Endpoints) > 0 {
		e.Backend = b.ID.String()
		return "proxied to the default backend " + b.ID.String()
	}
	return "404 from the built-in default backend"
}

func (e *URL) listCandidates(host *model.Host, chosen *model.Match) {
	after := false
	for i := range host.Matches {
		other := &host.Matches[i]
		if other == chosen {
			after = true
			continue
		}
		why := "does not match the path"
		if after && other.Kind != model.Exact && (&model.Host{Matches: host.Matches[i : i+1]}).Find(e.Path) != nil {
			why = "matches too, but comes later"
		}
		e.Candidates = append(e.Candidates, Candidate{
			Match: other.Kind.String() + " " + other.Path, Owner: other.Route.Owner.String(), Why: why,
		})
	}
}

func certificates(m *model.Model, name string) []string {
	owners := map[model.CertificateID]string{}
	for _, c := range m.Certificates {
		owners[c.ID] = c.Owner.String()
	}
	for _, candidate := range []string{name, model.Wildcard(name)} {
		for _, s := range m.ServerNames {
			if s.Name != candidate || candidate == "" {
				continue
			}
			var list []string
			for _, id := range s.Certificates {
				list = append(list, owners[id])
			}
			return list
		}
	}
	return nil
}

func problemsOf(m *model.Model, owner model.Ref) []string {
	var list []string
	for _, p := range m.Problems {
		if p.Object == owner {
			list = append(list, strings.TrimSpace(p.Field+" "+p.Reason+": "+p.Message))
		}
	}
	return list
}

// Print writes the answer for people.
func (e *URL) Print(w io.Writer) {
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-12s%s\n", label, text)
		}
	}
	line("url", e.URL)
	line("host", e.Host)
	line("path", e.Path)
	line("match", e.Match)
	line("owner", strings.TrimSpace(e.Owner+"  "+e.Field))
	line("outcome", e.Outcome)
	line("endpoints", strings.Join(e.Endpoints, " "))
	for _, c := range e.Canaries {
		line("canary", c)
	}
	if strings.HasPrefix(e.URL, "https:") {
		line("certificate", strings.Join(orDefault(e.TLS, "default certificate"), ", "))
	}
	for _, c := range e.Candidates {
		line("beside", fmt.Sprintf("%s [%s] %s", c.Match, c.Owner, c.Why))
	}
	for _, p := range e.Problems {
		line("problem", p)
	}
}

func orDefault(list []string, text string) []string {
	if len(list) == 0 {
		return []string{text}
	}
	return list
}
