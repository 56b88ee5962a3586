// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// URL is the answer to "what happens to a request for this URL".
type URL struct {
	URL  string `json:"url"`
	Host string `json:"host"` // the host that answers: a name, a wildcard or "_"
	// Path is the request's path as matching sees it: decoded, dot segments resolved, slashes merged.
	Path  string `json:"path"`
	Match string `json:"match,omitempty"` // "prefix /foo/"; empty when no rule matches
	Owner string `json:"owner,omitempty"` // the Ingress whose rule wins
	Field string `json:"field,omitempty"`
	// Status is what is answered without asking a backend; 0 when a backend answers.
	Status    int      `json:"status,omitempty"`
	Outcome   string   `json:"outcome"`
	Backend   string   `json:"backend,omitempty"`
	Endpoints []string `json:"endpoints,omitempty"`
	// BackendPath is the path that the backend gets, where it is another than Path.
	BackendPath string    `json:"backendPath,omitempty"`
	Canaries    []Canary  `json:"canaries,omitempty"`
	Policy      []Setting `json:"policy,omitempty"`
	// Certificates are the Secrets of those that answer for the name; for https only.
	Certificates []string `json:"certificates,omitempty"`
	// Candidates are rules that did not get the request.
	Candidates []Candidate `json:"candidates,omitempty"`
	Problems   []Problem   `json:"problems,omitempty"`
}

// Request is the question.
type Request struct {
	// URL without a scheme counts as http.
	URL string
	// Header is what canaries look at. Host in it goes before that of the URL.
	Header http.Header
}

// ForURL answers for a request. An error means that the question is no request.
func (f *Facts) ForURL(r Request) (*URL, error) {
	u, err := parseURL(r.URL)
	if err != nil {
		return nil, err
	}
	if host := r.Header.Get("Host"); host != "" {
		u.Host = host
	}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	e := &URL{URL: u.String()}
	if u.Scheme == "https" {
		e.Certificates = f.certificates(name)
	}
	path, ok := normalize(u.Path)
	if !ok || strings.ContainsRune(path, 0) {
		e.Path, e.Status, e.Outcome = u.Path, 400, "400: nginx refuses the path"
		return e, nil
	}
	e.Path = path
	host, match := f.Model.Find(name, path)
	if host == nil {
		e.Host = model.CatchAll
		f.describeDefault(e)
		return e, nil
	}
	e.Host = host.Name
	if host.Name == model.CatchAll && f.builtIn(e) {
		return e, nil
	}
	if !f.describeHost(e, host) {
		f.describe(e, host, match, u, r.Header)
	}
	e.Candidates = append(candidates(host, match, path), f.shadowed(host.Name, path)...)
	e.Candidates = append(e.Candidates, f.otherHosts(host, name)...)
	return e, nil
}

// builtIn answers what the catch-all host does not look up. It tells whether the path is such a one.
func (f *Facts) builtIn(e *URL) bool {
	switch {
	case f.HealthPath != "" && strings.HasPrefix(e.Path, f.HealthPath):
		e.Status, e.Outcome = 200, "200: the health check of names that no Ingress has"
	case e.Path == "/nginx_status":
		e.Outcome = "the status page of nginx, for its own machine only"
	default:
		return false
	}
	return true
}

func parseURL(text string) (*url.URL, error) {
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
	u.Fragment = ""
	return u, nil
}

// describe says what the route does, in the order in which the data plane does it.
func (f *Facts) describe(e *URL, host *model.Host, match *model.Match, u *url.URL, header http.Header) {
	if match == nil {
		f.describeDefault(e)
		e.Outcome = "no rule matches: " + e.Outcome
		return
	}
	r := match.Route
	e.Match, e.Owner, e.Field = match.Kind.String()+" "+match.Path, r.Owner.String(), r.Field
	e.Policy = policyOf(r.Policy, f.Model.Settings.Route)
	if host.TLS != nil && u.Scheme == "https" {
		e.Policy = append(e.Policy, Setting{Name: "TLS", Value: host.TLS.String(), Default: "none"})
	}
	e.Problems = f.problemsAbout(r)
	switch redirect := r.Policy.Redirect; {
	case r.Closed != "":
		e.Status, e.Outcome = 503, "503: the route is closed: "+r.Closed
	case redirect != nil:
		e.Status, e.Outcome = redirect.Code, fmt.Sprintf("%d to %s", redirect.Code, redirect.URL)
	case match.Slash:
		e.Status, e.Outcome = 301, "301 to "+u.Scheme+"://"+u.Host+u.EscapedPath()+"/"+query(u)
	case r.Policy.HTTPSRedirect && u.Scheme == "http":
		e.Status = f.Model.Settings.HTTPSRedirectCode
		e.Outcome = fmt.Sprintf("%d to https://%s%s", e.Status, u.Hostname(), secureURI(u, r.Policy.KeepTrailingSlash))
	case r.Backend.IsZero():
		f.describeDefault(e)
	default:
		f.describeBackend(e, r, header)
	}
}

// describeHost says what is done with every request of the host, and tells whether that is all.
func (f *Facts) describeHost(e *URL, host *model.Host) bool {
	switch {
	case host.RedirectTo != "":
		e.Status = f.Model.Settings.HTTPSRedirectCode
		e.Outcome = fmt.Sprintf("%d to the same path of %s, which has this name as its counterpart", e.Status, host.RedirectTo)
	case host.Closed != "":
		e.Status, e.Outcome = 403, "403: the host is closed: "+host.Closed
	case host.AppRoot != "" && e.Path == "/":
		e.Status, e.Outcome = 302, "302 to "+host.AppRoot+" of the same host"
	default:
		return false
	}
	return true
}

// problemsAbout gives the problems that have to do with a route: not those of other paths of its Ingress.
func (f *Facts) problemsAbout(r *model.Route) []Problem {
	concerned := []model.Ref{r.Owner, serviceOf(r.Backend)}
	for _, c := range r.Canaries {
		concerned = append(concerned, c.Owner, serviceOf(c.Backend))
	}
	return slices.DeleteFunc(f.problemsOf(concerned...), func(p Problem) bool {
		return p.Object == Object(r.Owner) && strings.HasPrefix(p.Field, "spec.rules[") && !strings.HasPrefix(p.Field, r.Field)
	})
}

// secureURI is the URI that a redirect to HTTPS leads to.
func secureURI(u *url.URL, keepSlash bool) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	uri := path + query(u)
	if !keepSlash {
		uri = strings.TrimSuffix(uri, "/")
	}
	return uri
}

func query(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}

func serviceOf(id model.BackendID) model.Ref {
	return model.Ref{Kind: "Service", Namespace: id.Namespace, Name: id.Service}
}

func (f *Facts) describeDefault(e *URL) {
	if f.alive(f.Model.DefaultBackend) {
		e.Backend, e.Endpoints = f.Model.DefaultBackend.String(), f.endpoints(f.Model.DefaultBackend)
		e.Outcome = "proxied to the default backend " + e.Backend
		return
	}
	e.Status, e.Outcome = 404, "404 from the built-in page"
}

func (f *Facts) describeBackend(e *URL, r *model.Route, header http.Header) {
	e.Backend = r.Backend.String()
	if !f.alive(r.Backend) && f.alive(r.Policy.Fallback) {
		e.Backend, e.Endpoints = r.Policy.Fallback.String(), f.endpoints(r.Policy.Fallback)
		e.Outcome = "proxied to backend " + e.Backend + ", as " + r.Backend.String() + " has no endpoints"
		return
	}
	if !f.alive(r.Backend) {
		e.Status, e.Outcome = 503, "503: backend "+e.Backend+" has no endpoints"
		return
	}
	canaries, chosen := f.chooseCanary(r.Canaries, header)
	e.Canaries = canaries
	backend := r.Backend
	if chosen != nil {
		backend, e.Backend = chosen.Backend, chosen.Backend.String()
	}
	e.Endpoints = f.endpoints(backend)
	e.Outcome = fmt.Sprintf("proxied by %s to backend %s", r.Policy.Protocol, backend)
	if r.Policy.Rewrite == nil {
		return
	}
	if path := rewritten(r.Policy.Rewrite, e.Path); path != e.Path {
		e.BackendPath = path
		e.Outcome += " as " + path
	}
}

func (f *Facts) endpoints(id model.BackendID) []string {
	backend := f.Model.Backend(id)
	if backend == nil {
		return nil
	}
	var list []string
	for _, e := range backend.Endpoints {
		list = append(list, e.Describe())
	}
	return list
}

// certificates gives the owners of the certificates for a name, "default certificate" if it has none.
func (f *Facts) certificates(name string) []string {
	for _, candidate := range []string{name, model.Wildcard(name)} {
		for _, s := range f.Model.ServerNames {
			if candidate != "" && s.Name == candidate && len(s.Certificates) > 0 {
				return f.ownersOf(s.Certificates)
			}
		}
	}
	if len(f.Model.DefaultCertificates) > 0 {
		return f.ownersOf(f.Model.DefaultCertificates)
	}
	return []string{"self-signed"}
}

func (f *Facts) ownersOf(ids []model.CertificateID) []string {
	var list []string
	for _, id := range ids {
		for _, c := range f.Model.Certificates {
			if c.ID == id {
				list = append(list, c.Owner.String())
			}
		}
	}
	return list
}

// shownCandidates is how many rules that do not even match are shown to people.
const shownCandidates = 10

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
		line("canary", fmt.Sprintf("%s [%s] %s", c.Condition, c.Owner, c.Verdict))
	}
	line("certificate", strings.Join(e.Certificates, ", "))
	for _, s := range e.Policy {
		if s.Default != "" || s.Name == "redirect to HTTPS" {
			line("special", s.String())
		}
	}
	hidden := 0
	for i, c := range e.Candidates {
		if !c.Matches && i >= shownCandidates {
			hidden++
			continue
		}
		line("beside", fmt.Sprintf("%s [%s] %s", c.Match, c.Owner, c.Why))
	}
	if hidden > 0 {
		line("beside", fmt.Sprintf("%d more rules of this host that do not match; -o json lists them", hidden))
	}
	for _, p := range e.Problems {
		line("problem", p.String())
	}
}
