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

// index finds what package ingress made of each path, and drops those of its Problems that Kong's own rules decide differently.
func (r *run) index(m *model.Model) {
	r.paths, r.settings, r.base, r.counterparts = map[place]*basePath{}, &m.Settings, m, map[string]string{}
	for _, host := range m.Hosts {
		if host.RedirectTo != "" {
			r.counterparts[host.RedirectTo] = host.Name
		}
		for i := range host.Matches {
			match := &host.Matches[i]
			p := &basePath{route: match.Route, host: host}
			if match.Kind == model.Regex {
				p.pattern = match.Path
			}
			r.paths[place{match.Route.Owner, match.Route.Field}] = p
		}
	}
	m.Problems = slices.DeleteFunc(slices.Clone(m.Problems), decidedHere)
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
