// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/model"
)

// place is a path of an Ingress.
type place struct {
	owner model.Ref
	field string
}

// basePath is what package ingress made of a path.
type basePath struct {
	route *model.Route
	host  *model.Host
	// pattern is the expression, where the path is compared as one.
	pattern string
}

// hostPaths are the paths of one host.
type hostPaths struct {
	seen  uint64
	host  *model.Host
	paths map[place]*basePath
}

// index finds what package ingress made of each path, and drops those of its Problems that Kong's own rules decide differently.
func (r *run) index(m *model.Model) {
	r.model, r.counterparts = m, map[string]string{}
	r.memory.list(m.Backends)
	for _, host := range m.Hosts {
		if host.RedirectTo != "" {
			r.counterparts[host.RedirectTo] = host.Name
		}
		h := r.memory.hosts[host.Name]
		if h == nil || h.host != host {
			h = newHostPaths(host)
			r.memory.hosts[host.Name] = h
		}
		h.seen = r.memory.now
	}
	m.Problems = slices.DeleteFunc(slices.Clone(m.Problems), decidedHere)
}

func newHostPaths(host *model.Host) *hostPaths {
	h := &hostPaths{host: host, paths: map[place]*basePath{}}
	for i := range host.Matches {
		match := &host.Matches[i]
		p := &basePath{route: match.Route, host: host}
		if match.Kind == model.Regex {
			p.pattern = match.Path
		}
		h.paths[place{match.Route.Owner, match.Route.Field}] = p
	}
	return h
}

// base gives what package ingress made of a path of a host, or nil.
func (r *run) base(host string, p place) *basePath {
	if host == "" {
		host = model.CatchAll
	}
	h := look(r, func(r *run) *hostPaths {
		if h := r.memory.hosts[host]; h != nil && h.seen == r.memory.now {
			return h
		}
		return nil
	})
	if h == nil {
		return nil
	}
	return h.paths[p]
}

// baseOfDefault gives what package ingress made of the default backend of an Ingress: the root of the hosts that it names and nobody declares. They
// are alike; the one whose host is the last by name stands for all.
func (r *run) baseOfDefault(ing *netv1.Ingress, p place) (last *basePath) {
	hosts := []string{model.CatchAll}
	for i := range ing.Spec.Rules {
		hosts = append(hosts, strings.ToLower(ing.Spec.Rules[i].Host))
	}
	slices.Sort(hosts)
	for _, host := range slices.Compact(hosts) {
		if b := r.base(host, p); b != nil && (last == nil || b.host.Name > last.host.Name) {
			last = b
		}
	}
	return last
}

// decidedHere tells whether a Problem is about something that is decided in this package or the driver.
func decidedHere(p model.Problem) bool {
	if p.Object.Kind != "Ingress" {
		return false
	}
	switch p.Reason {
	case model.ReasonShadowed, model.ReasonMissingService, model.ReasonMissingPort, model.ReasonNoEndpoints, model.ReasonInvalidBackend:
		return true
	}
	return strings.HasPrefix(p.Field, "spec.tls")
}

// own gives the value of one of Fairway's own annotations.
func (r *run) own(ing *netv1.Ingress, name string) (string, bool) {
	text, written := ing.Annotations[r.ownKey(name)]
	return text, written
}

func (r *run) ownKey(name string) string {
	return cmp.Or(r.AnnotationsPrefix, annotation.DefaultPrefix) + "/" + name
}

func (r *run) ownTrue(ing *netv1.Ingress, name string) bool {
	text, _ := r.own(ing, name)
	on, err := strconv.ParseBool(strings.TrimSpace(text))
	return err == nil && on
}

// hasOwn tells whether an Ingress has one of Fairway's own annotations.
func (r *run) hasOwn(ing *netv1.Ingress) bool {
	for name := range ing.Annotations {
		if strings.HasPrefix(name, cmp.Or(r.AnnotationsPrefix, annotation.DefaultPrefix)+"/") {
			return true
		}
	}
	return false
}

// wantsRegex tells whether Fairway's own annotations make the paths of an Ingress expressions.
func (r *run) wantsRegex(ing *netv1.Ingress) bool {
	target, _ := r.own(ing, "rewrite-target")
	return target != "" || r.ownTrue(ing, "use-regex")
}

// redirectsToHTTPS tells whether an annotation of Fairway's own asks for the redirect: unlike nginx, a TLS section alone does not.
func (r *run) redirectsToHTTPS(ing *netv1.Ingress) bool {
	return r.ownTrue(ing, "ssl-redirect") || r.ownTrue(ing, "force-ssl-redirect")
}
