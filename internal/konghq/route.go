// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// ingressReader makes the routes of one Ingress.
type ingressReader struct {
	*run
	ing      *netv1.Ingress
	origin   model.Origin
	notes    *notes
	options  model.KongRouteOptions
	aliases  []string
	plugins  []model.KongAttachment
	closed   string
	redirect int // status; 0 for none
	groups   map[groupKey]*model.KongRoute
	// special are the hosts that have routes beside those of their paths.
	special map[string]bool
	found   reading
}

// groupKey is what paths of one route have in common.
type groupKey struct {
	host     string
	service  model.KongServiceID
	canaries string
	closed   string
	redirect int
}

// reading is what one object that makes routes comes to, whatever else there is.
type reading struct {
	routes []*model.KongRoute
	uses   []namedService
	claims []nameClaim
}

// namedService is a service that a route names, and where.
type namedService struct {
	id model.KongServiceID
	use
}

// use notes that a route names a service.
func (f *reading) use(id model.KongServiceID, owner model.Ref, field string) {
	f.uses = append(f.uses, namedService{id, use{owner, field}})
}

// take adds what an object came to.
func (r *run) take(found *reading) {
	r.out.Routes = append(r.out.Routes, found.routes...)
	for _, u := range found.uses {
		r.use(u.id, u.owner, u.field)
	}
	for _, c := range found.claims {
		r.claimName(c)
	}
}

// readIngress adds the routes of an Ingress.
func (r *run) readIngress(ing *netv1.Ingress) {
	r.take(memoOf(r.memory.ingresses, ing).get(r, func() *reading {
		i := &ingressReader{
			run: r, ing: ing, origin: origin("Ingress", netv1.GroupName, "v1", ing),
			groups: map[groupKey]*model.KongRoute{}, special: map[string]bool{},
		}
		i.read()
		return &i.found
	}))
}

func (i *ingressReader) read() {
	ing := i.ing
	i.found.claims = i.claimCertificates(i.origin, ing.Namespace, ingressTLS(ing))
	if i.ownTrue(ing, "canary") {
		return // it joins the routes of others
	}
	i.notes = i.readNotes(i.origin.Ref, ing, knownOnRoutes)
	i.options, i.closed = i.notes.routeOptions()
	i.aliases = i.notes.hostAliases()
	i.plugins = i.attachments(i.notes, i.origin)
	if ing.Annotations["ingress.kubernetes.io/force-ssl-redirect"] == "true" {
		i.redirect = 302
		if s := i.options.RedirectStatus; s != 0 {
			i.redirect = s
		}
	}
	for n := range ing.Spec.Rules {
		i.readRule(&ing.Spec.Rules[n], "spec.rules["+strconv.Itoa(n)+"]")
	}
	if backend := ing.Spec.DefaultBackend; backend != nil {
		i.readDefaultBackend(backend)
	}
}

func ingressTLS(ing *netv1.Ingress) []kongapi.StreamTLS {
	var list []kongapi.StreamTLS
	for _, entry := range ing.Spec.TLS {
		list = append(list, kongapi.StreamTLS{Hosts: entry.Hosts, SecretName: entry.SecretName})
	}
	return list
}

// hostAliases reads the further hosts.
func (n *notes) hostAliases() []string {
	var names []string
	for _, name := range list(strings.ToLower(n.values["host-aliases"])) {
		if !isHost(name) {
			n.invalid("host-aliases", "that alias is left out", fmt.Errorf("has %.60q, which is no DNS name", name))
			continue
		}
		names = append(names, name)
	}
	return names
}

// parameters gives the parameters of the Ingress's class.
func (i *ingressReader) parameters() kongapi.ClassParameters {
	name := i.class()
	if written := i.ing.Annotations[classAnnotation]; written != "" {
		name = written
	} else if i.ing.Spec.IngressClassName != nil {
		name = *i.ing.Spec.IngressClassName
	}
	return i.ownClasses[name]
}

func (i *ingressReader) readRule(rule *netv1.IngressRule, field string) {
	host := strings.ToLower(rule.Host)
	if host != "" && !isHost(host) || rule.HTTP == nil {
		return // package ingress has reported it
	}
	for n := range rule.HTTP.Paths {
		written := &rule.HTTP.Paths[n]
		place := field + ".http.paths[" + strconv.Itoa(n) + "]"
		path, ok := i.readPath(written, place)
		if !ok {
			continue
		}
		service, why := i.readBackend(&written.Backend)
		if why != "" {
			i.problem(i.origin.Ref, place+".backend", model.ReasonInvalidBackend, "%s; the path answers 503", why)
		}
		i.add(host, service, path, why)
	}
}

// readBackend gives the service that a backend names, or why there is none.
func (r *ingressReader) readBackend(written *netv1.IngressBackend) (id model.KongServiceID, why string) {
	id.Namespace = r.ing.Namespace
	switch {
	case written.Service != nil && written.Service.Name != "":
		id.Name, id.Port = written.Service.Name, written.Service.Port.Name
		if id.Port == "" {
			id.Port = "implicitPort"
			if n := written.Service.Port.Number; n != 0 {
				id.Port = strconv.Itoa(int(n))
			}
		}
		return id, ""
	case written.Resource != nil && written.Resource.Kind == "KongServiceFacade":
		id.Name, id.Facade = written.Resource.Name, true
		if r.findFacade(source.Key{Namespace: id.Namespace, Name: id.Name}) == nil {
			return model.KongServiceID{}, "there is no KongServiceFacade " + id.Name
		}
		return id, ""
	case written.Resource != nil:
		return model.KongServiceID{}, fmt.Sprintf("only Services and KongServiceFacades can be backends, not %q", written.Resource.Kind)
	}
	return model.KongServiceID{}, "the backend names no Service"
}

// add puts a path into the route of its host and service.
func (i *ingressReader) add(host string, service model.KongServiceID, path model.KongPath, closed string) {
	base := i.base(host, place{i.origin.Ref, path.Field})
	if base != nil && !service.Facade {
		service.Virtual = base.route.Backend.Virtual
	}
	key := groupKey{host: host, service: service, closed: firstOf(closed, i.closed), redirect: i.redirect}
	var canaries []model.KongCanary
	switch {
	case base == nil && i.hasOwn(i.ing):
		key.closed = firstOf(key.closed, "Fairway's own annotations are not in force here, because another Ingress has the path or it cannot be served")
	case base != nil:
		if base.pattern != "" && i.wantsRegex(i.ing) {
			path.Kind, path.Path = model.KongRegex, base.pattern
		}
		key.closed = firstOf(key.closed, base.route.Closed)
		if base.route.Policy.HTTPSRedirect && i.redirectsToHTTPS(i.ing) {
			key.redirect = i.memory.surroundings.redirectCode
		}
		canaries = readCanaries(base.route)
		if len(canaries) > 0 {
			key.canaries = fmt.Sprintf("%+v", canaries)
		}
	}
	if base != nil {
		i.addOwnRoutes(key, base)
	}
	route := i.groups[key]
	if route == nil {
		route = i.newRoute(key, path.Field, base)
		route.Canaries = canaries
		i.groups[key] = route
		i.found.routes = append(i.found.routes, route)
	}
	route.Paths = append(route.Paths, path)
	i.found.use(service, i.origin.Ref, path.Field+".backend")
	for _, c := range canaries {
		i.found.use(c.Service, c.Owner, "spec")
	}
}

func (i *ingressReader) newRoute(key groupKey, field string, base *basePath) *model.KongRoute {
	route := &model.KongRoute{
		Origin: i.origin, Field: field, Host: key.host, Aliases: i.aliases, Service: key.service, Options: i.options, Plugins: i.plugins,
		HTTPSOnly: key.redirect, Closed: key.closed,
	}
	if base != nil {
		route.Policy = &base.route.Policy
		route.Fallback = i.fallbackOf(base.route)
		if key.host != "" {
			route.Site = base.host
			route.Aliases = slices.Concat(route.Aliases, base.host.Aliases)
		}
	}
	return route
}

// readCanaries gives the canaries of a route with the services that they name.
func readCanaries(route *model.Route) []model.KongCanary {
	var list []model.KongCanary
	for _, c := range route.Canaries {
		list = append(list, model.KongCanary{Canary: c, Service: model.KongServiceID{
			Namespace: c.Backend.Namespace, Name: c.Backend.Service, Port: c.Backend.Port, Virtual: c.Backend.Virtual,
		}})
	}
	return list
}

// readDefaultBackend adds the route of spec.defaultBackend; of several Ingresses the oldest keeps it, see chooseDefaultBackend.
func (i *ingressReader) readDefaultBackend(backend *netv1.IngressBackend) {
	const field = "spec.defaultBackend"
	service, why := i.readBackend(backend)
	if why != "" {
		i.problem(i.origin.Ref, field, model.ReasonInvalidBackend, "%s; the field has no effect", why)
		return
	}
	base := i.baseOfDefault(i.ing, place{i.origin.Ref, field})
	if base != nil && !service.Facade {
		service.Virtual = base.route.Backend.Virtual
	}
	key := groupKey{service: service, closed: i.closed, redirect: i.redirect}
	switch {
	case base != nil:
		key.closed = firstOf(key.closed, base.route.Closed)
		if base.route.Policy.HTTPSRedirect && i.redirectsToHTTPS(i.ing) {
			key.redirect = i.memory.surroundings.redirectCode
		}
	case i.hasOwn(i.ing):
		key.closed = firstOf(key.closed, "Fairway's own annotations are not in force for a default backend beside rules")
	}
	route := i.newRoute(key, field, base)
	route.Kind = model.KongHTTPDefault
	route.Paths = []model.KongPath{{Field: field, Kind: model.KongText, Path: "/"}}
	i.found.routes = append(i.found.routes, route)
	i.found.use(service, i.origin.Ref, field)
}

// addDefaultBackend adds the route of the controller's own default backend, the last of all.
func (r *run) addDefaultBackend() {
	if r.DefaultBackend.Name == "" {
		return
	}
	service := r.snapshot.Services[r.DefaultBackend]
	if service == nil || len(service.Spec.Ports) == 0 {
		return // package ingress has reported it
	}
	id := model.KongServiceID{Namespace: service.Namespace, Name: service.Name, Port: strconv.Itoa(int(service.Spec.Ports[0].Port))}
	o := origin("Service", "", "v1", service)
	r.out.Routes = append(r.out.Routes, &model.KongRoute{
		Origin: o, Kind: model.KongHTTPDefault, Service: id, Options: model.KongRouteOptions{PreserveHost: true},
		Paths: []model.KongPath{{Kind: model.KongText, Path: "/"}},
	})
	r.use(id, o.Ref, "")
}

// chooseDefaultBackend keeps the oldest default backend. A path "/" without host is more of a rule than any default.
func (r *run) chooseDefaultBackend() {
	var first *model.KongRoute
	r.out.Routes = slices.DeleteFunc(r.out.Routes, func(route *model.KongRoute) bool {
		if route.Kind != model.KongHTTPDefault {
			return false
		}
		if first == nil {
			first = route
			return false
		}
		if route.Origin.Kind == "Ingress" {
			r.problem(route.Origin.Ref, route.Field, model.ReasonShadowed, "%s has the default backend and is older; this one has no effect", first.Origin.Ref)
		}
		return true
	})
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
