// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// hostInputs is all that the matches of a host depend on, besides settings. Pointers stand for contents: claims never change.
type hostInputs struct {
	mains    []*hostClaim // in the order of age
	canaries []*hostClaim
	secure   bool // a certificate entry covers the host
	// Further names, of the first claim that asks for any, without those that are taken.
	aliases, patterns []string
}

func (a hostInputs) equal(b hostInputs) bool {
	return a.secure == b.secure && slices.Equal(a.mains, b.mains) && slices.Equal(a.canaries, b.canaries) &&
		slices.Equal(a.aliases, b.aliases) && slices.Equal(a.patterns, b.patterns)
}

// hostResult is what the claims on a host come to.
type hostResult struct {
	host      *model.Host // nil when there are only canaries
	locations []*location
	uses      []use
	sticky    []model.BackendID // that clients are kept on by cookies
	problems  []model.Problem
}

// use is a place that names a backend.
type use struct {
	backend model.BackendID
	owner   model.Ref
	field   string
	without string // what happens when the backend has no endpoints
}

// location is a path that its claim owns.
type location struct {
	*pathClaim
	canaries []*pathClaim
	secure   bool
	// overruled says that the claim demands client certificates which the host does not.
	overruled bool
	route     *model.Route
	matched   bool // something in the host's matches leads here
}

// buildHost settles the claims on one host. It takes routes from the previous result when nothing they depend on changed.
func buildHost(name string, in hostInputs, previous *hostResult, settings *model.Settings) *hostResult {
	h := &hostBuild{name: name, in: in, settings: settings, owned: map[pathKey]*location{}, result: &hostResult{}}
	h.settleTLS()
	h.claim()
	h.shareCanaries()
	if len(in.mains) == 0 && name != model.CatchAll {
		return h.result
	}
	h.makeRoutes(previous)
	matches := h.matches()
	h.noteUses()
	h.result.sticky = stickyBackends(h.result.locations)
	h.result.host = &model.Host{Name: name, Matches: matches, Aliases: in.aliases, Patterns: in.patterns}
	h.settleHost(h.result.host)
	h.settlePassthrough(h.result.host)
	return h.result
}

type hostBuild struct {
	name     string
	in       hostInputs
	settings *model.Settings
	owned    map[pathKey]*location
	result   *hostResult
	// What is special about TLS, the claim that decides about client certificates, and why they cannot be verified.
	tls       model.HostTLS
	tlsOwner  *hostClaim
	tlsClosed string
}

type pathKey struct {
	exact bool
	path  string
}

func (p *pathClaim) key() pathKey { return pathKey{p.exact, p.path} }

func (h *hostBuild) problem(owner model.Ref, field, reason, format string, args ...any) {
	h.result.problems = append(h.result.problems, model.Problem{Object: owner, Field: field, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// lose reports a path that is not served, or not wholly, because of an older one.
func (h *hostBuild) lose(p *pathClaim, owner *location, format string, args ...any) {
	h.problem(p.host.ref, p.field, model.ReasonShadowed, format, args...)
	if p.host.claims == owner.host.claims || p.host.namesCanary() || owner.host.namesCanary() {
		return // as with the predecessor, whose tools turn canaries on and off by the value
	}
	host := "the host " + h.name
	if h.name == model.CatchAll {
		host = "rules without a host"
	}
	h.result.problems[len(h.result.problems)-1].Refusal = fmt.Sprintf("the path %s of %s is already defined in Ingress %s; "+
		"choose another host or path, or make this Ingress a canary by the annotation %s/canary", p.path, host, owner.name(), p.host.prefix)
}

// claim gives each path and type to the first claim on it. The root of a host that nobody declares goes to who named the host first.
func (h *hostBuild) claim() {
	for _, host := range h.in.mains {
		for _, p := range host.paths {
			if owner := h.owned[p.key()]; owner != nil {
				h.lose(p, owner, "%s has the path %s; this one is not served", owner.before(p), p.path)
				continue
			}
			h.own(p)
		}
	}
	if len(h.in.mains) == 0 || h.name == model.CatchAll || h.owned[pathKey{false, "/"}] != nil {
		return
	}
	first := h.in.mains[0]
	root := &pathClaim{host: first, field: first.field, path: "/", backend: first.root, implicit: true}
	if !first.root.IsZero() {
		root.field = "spec.defaultBackend"
	}
	h.own(root)
}

func (h *hostBuild) own(p *pathClaim) {
	l := &location{pathClaim: p, secure: h.in.secure, overruled: h.overrules(p.host)}
	h.owned[p.key()] = l
	h.result.locations = append(h.result.locations, l)
}

// name says for people whose location it is.
func (l *location) name() string { return l.host.ref.Namespace + "/" + l.host.ref.Name }

// before says for people whose location it is that p lost against.
func (l *location) before(p *pathClaim) string {
	if l.host.claims == p.host.claims {
		return "an earlier path of this Ingress"
	}
	return l.name() + ", which is older,"
}

// makeRoutes makes the route of each location.
func (h *hostBuild) makeRoutes(previous *hostResult) {
	old := map[pathKey]*location{}
	if previous != nil {
		for _, l := range previous.locations {
			old[l.key()] = l
		}
	}
	for _, l := range h.result.locations {
		if o := old[l.key()]; o != nil && l.dependsOnSame(o) {
			l.route = o.route
			continue
		}
		l.route = h.newRoute(l)
	}
}

// dependsOnSame tells whether the routes of two locations of one host must be equal. The claim of an implicit root is made anew each time.
func (l *location) dependsOnSame(o *location) bool {
	sameClaim := l.pathClaim == o.pathClaim || l.implicit && o.implicit && l.host == o.host
	return sameClaim && l.secure == o.secure && l.overruled == o.overruled && slices.Equal(l.canaries, o.canaries)
}

func (h *hostBuild) newRoute(l *location) *model.Route {
	effect := l.host.effect
	r := &model.Route{
		Owner: l.host.ref, Field: l.field, Path: l.path, Backend: l.backend,
		Closed: cmp.Or(effect.Closed, effect.Host.Closed, h.settings.Closed),
		Policy: effect.Policy,
	}
	if l.overruled {
		r.Closed = cmp.Or(r.Closed, "an older Ingress of the host demands less of client certificates")
	}
	if l.stub != "" {
		r.Closed = cmp.Or(r.Closed, "the path is no usable regular expression")
	}
	r.Policy.HTTPSRedirect = h.redirects(l)
	if r.Backend.IsZero() {
		r.Policy.Protocol, r.Policy.UpstreamTLS, r.Policy.FastCGI, r.Policy.Balance = model.HTTP, nil, nil, nil // what the default backend speaks
	}
	if l.bare {
		r.Policy.Redirect = nil
	}
	if h.exempt(l, h.settings.NoAuth) {
		r.Policy.Login, r.Policy.ExternalAuth = nil, nil
	}
	if l.rewrites() {
		r.Policy.Rewrite = &model.Rewrite{Pattern: l.path, Target: effect.RewriteTarget}
	} else {
		r.Policy.ForwardedPrefix = ""
	}
	r.Policy.Balance = withCookiePath(r.Policy.Balance, l.pathClaim)
	for _, c := range l.canaries {
		r.Canaries = append(r.Canaries, newCanary(c, r.Policy.Balance))
	}
	return r
}

// redirects decides whether plain HTTP is sent to HTTPS.
func (h *hostBuild) redirects(l *location) bool {
	if l.bare || h.exempt(l, h.settings.NoHTTPSRedirect) {
		return false
	}
	return l.host.effect.ForceHTTPSRedirect || l.host.effect.Policy.HTTPSRedirect && h.in.secure
}

// exempt tells whether the path of the rule, not of a request, begins with one of the beginnings.
func (h *hostBuild) exempt(l *location, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(l.path, b) })
}

// noteUses lists the places that name backends, of all routes that are matched.
func (h *hostBuild) noteUses() {
	for _, l := range h.result.locations {
		if !l.matched {
			continue
		}
		without := "requests are answered with 503"
		if f := l.route.Policy.Fallback; !f.IsZero() {
			without = "requests go to " + f.Namespace + "/" + f.Service + " while that has an endpoint"
		}
		if !l.backend.IsZero() {
			h.result.uses = append(h.result.uses, use{l.backend, l.host.ref, backendField(l.pathClaim), without})
		}
		h.noteFurther(l)
		for _, c := range l.canaries {
			h.result.uses = append(h.result.uses, use{c.backend, c.host.ref, backendField(c), "the canary takes no request"})
		}
	}
}

// noteFurther lists the backends that a route's annotations name.
func (h *hostBuild) noteFurther(l *location) {
	note := func(id model.BackendID, key, without string) {
		if !id.IsZero() {
			h.result.uses = append(h.result.uses, use{id, l.host.ref, "metadata.annotations[" + l.host.prefix + "/" + key + "]", without})
		}
	}
	p := &l.route.Policy
	note(p.Fallback, "default-backend", "it cannot stand in")
	if p.ExternalAuth != nil {
		note(p.ExternalAuth.URL.Backend, "auth-url", "requests are answered with 500")
	}
	if p.Mirror != nil {
		note(p.Mirror.URL.Backend, "mirror-target", "no copies are sent")
	}
}

func backendField(p *pathClaim) string {
	if p.field == "spec.defaultBackend" {
		return p.field
	}
	return p.field + ".backend"
}
