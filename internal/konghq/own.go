// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/model"
)

// found is the status with which nginx answers for app-root.
const found = 302

// addOwnRoutes adds the routes of a host that Fairway's own annotations ask for beside those of paths.
func (i *ingressReader) addOwnRoutes(key groupKey, base *basePath) {
	if i.special[key.host] {
		return
	}
	i.special[key.host] = true
	if _, asked := i.own(i.ing, "app-root"); asked && base.host.AppRoot != "" {
		i.addAppRoot(key, base)
	}
	if !i.ownTrue(i.ing, "from-to-www-redirect") {
		return
	}
	if other := look(i.run, func(r *run) string { return r.counterparts[key.host] }); other != "" {
		i.addCounterpart(key, other)
	}
}

// addAppRoot adds the route of a host's "/".
func (i *ingressReader) addAppRoot(key groupKey, base *basePath) {
	field := i.ownField("app-root")
	route := i.newRoute(key, field, base)
	policy := model.DefaultSettings().Route
	route.Part, route.Policy, route.Fallback = "app-root", &policy, model.KongServiceID{}
	route.Paths = []model.KongPath{{Field: field, Kind: model.KongExact, Path: "/"}}
	route.Redirect = &model.KongRedirect{Redirect: model.Redirect{Code: found, URL: base.host.AppRoot}}
	i.addSpecial(route)
}

// addCounterpart adds the route of the name that redirects to a host, with the certificate of that host if it is for both.
func (i *ingressReader) addCounterpart(key groupKey, other string) {
	field, scheme := i.ownField("from-to-www-redirect"), "http"
	if look(i.run, func(r *run) bool { return r.hasServerName(key.host) }) {
		scheme = "https"
	}
	route := i.newRoute(key, field, nil)
	route.Part, route.Host, route.Aliases, route.HTTPSOnly = "www", other, nil, 0
	route.Paths = []model.KongPath{{Field: field, Kind: model.KongText, Path: "/"}}
	route.Redirect = &model.KongRedirect{
		Redirect: model.Redirect{Code: i.memory.surroundings.redirectCode, URL: scheme + "://" + key.host}, KeepPath: true,
	}
	i.addSpecial(route)
	i.found.claims = append(i.found.claims, nameClaim{object: i.origin.Ref, field: field, name: other, beside: key.host})
}

func (i *ingressReader) addSpecial(route *model.KongRoute) {
	i.found.routes = append(i.found.routes, route)
	i.found.use(route.Service, i.origin.Ref, route.Field)
}

func (i *ingressReader) ownField(name string) string {
	return "metadata.annotations[" + i.ownKey(name) + "]"
}

// hasServerName tells whether a certificate answers for a host.
func (r *run) hasServerName(name string) bool {
	_, parent, _ := strings.Cut(name, ".")
	for _, text := range []string{name, "*." + parent} {
		if _, has := slices.BinarySearchFunc(r.model.ServerNames, text, func(s model.ServerName, text string) int {
			return strings.Compare(s.Name, text)
		}); has {
			return true
		}
	}
	return false
}

// fallbackOf gives the service that stands in for the one of a route.
func (i *ingressReader) fallbackOf(route *model.Route) model.KongServiceID {
	b := route.Policy.Fallback
	if b.IsZero() {
		return model.KongServiceID{}
	}
	id := model.KongServiceID{Namespace: b.Namespace, Name: b.Service, Port: b.Port, Virtual: b.Virtual}
	i.found.use(id, i.origin.Ref, i.ownField("default-backend"))
	return id
}

// readHealth finds how targets are judged. For what Ingresses name package ingress has decided between them and the Service.
func (r *run) readHealth(s *model.KongService, object *corev1.Service) {
	if !s.ID.Facade && s.ID.Transport == model.KongOverHTTP {
		id := model.BackendID{Namespace: s.ID.Namespace, Service: s.ID.Name, Port: s.ID.Port, Virtual: s.ID.Virtual}
		if b := r.findBackend(id); b != nil {
			s.Health, s.SlowStart = b.Health, b.SlowStart
			return
		}
	}
	if s.ID.Transport == model.KongOverUDP || object.Spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	ref := model.Ref{Kind: "Service", Namespace: object.Namespace, Name: object.Name}
	effect, _, problems := annotation.ParseService(ref, object.Annotations)
	r.problems = append(r.problems, problems...)
	s.SlowStart = effect.SlowStart
	if !effect.Health.IsZero() {
		s.Health = &effect.Health
	}
}
