// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// route is an entity in the making.
type route struct {
	*entity.Route
	source *model.KongRoute
	paths  []model.KongPath
	to     model.KongServiceID
	closed string
	// priority says that an annotation has set the priority of expressions.
	priority bool
	variant  variant
	// request and response are what transformers do to them.
	request, response transform
	// canary is that whose header the route has; nil for none.
	canary *model.KongCanary
	// lost is what the plain spelling of a prefix path must not take, as an exact path of the same host has it.
	lost map[string]bool
}

// addRoutes makes routes, settles who takes what, and adds them.
func (t *translation) addRoutes(sources []*model.KongRoute) {
	for _, source := range sources {
		t.makeRoutes(source)
	}
	t.settle()
	for _, r := range t.routes {
		if t.finish(r) {
			t.add(r.Route)
		}
	}
}

// makeRoutes makes one route of a source, or two where exact paths need another priority, and those of canaries. An expression has one priority, so
// with them each path is a route.
func (t *translation) makeRoutes(source *model.KongRoute) {
	if isStream(source) {
		t.makeStreamRoute(source)
		return
	}
	readable := t.readable(source)
	parts := [][]model.KongPath{readable}
	switch {
	case t.expresses():
		parts = splitAll(readable)
	case source.Options.RegexPriority == nil:
		parts = splitExact(readable)
	}
	for i, paths := range parts {
		if len(paths) == 0 {
			continue
		}
		suffix := ""
		if i == 1 && len(parts[0]) > 0 && !t.expresses() {
			suffix = ".exact"
		}
		r := t.newRoute(source, paths, suffix)
		t.routes = append(t.routes, r)
		t.addCanaries(r, suffix)
	}
}

// readable gives the paths of a source that the gateway can read.
func (t *translation) readable(source *model.KongRoute) []model.KongPath {
	var paths []model.KongPath
	for _, p := range source.Paths {
		err := checkSegments(p.Path)
		if p.Kind == model.KongRegex {
			err = t.checkExpression(p.Path)
		}
		if err != nil {
			t.problem(source.Origin.Ref, p.Field+".path", model.ReasonInvalidPath, "%v; the path is not served", err)
			continue
		}
		paths = append(paths, p)
	}
	return paths
}

// splitExact takes exact paths apart from expressions of users, which they must beat.
func splitExact(paths []model.KongPath) [][]model.KongPath {
	isExact := func(p model.KongPath) bool { return p.Kind == model.KongExact }
	if !slices.ContainsFunc(paths, func(p model.KongPath) bool { return p.Kind == model.KongRegex }) || !slices.ContainsFunc(paths, isExact) {
		return [][]model.KongPath{paths}
	}
	var exact []model.KongPath
	for _, p := range paths {
		if isExact(p) {
			exact = append(exact, p)
		}
	}
	return [][]model.KongPath{slices.DeleteFunc(slices.Clone(paths), isExact), exact}
}

func (t *translation) newRoute(source *model.KongRoute, paths []model.KongPath, suffix string) *route {
	o := &source.Options
	name := t.routeName(source, paths[0].Path, suffix)
	r := &route{source: source, paths: paths, closed: source.Closed, to: t.destination(source), lost: map[string]bool{},
		variant: variant{retries: -1}, Route: &entity.Route{
			Meta: t.meta(entity.Routes, name, source.Origin, paths[0].Field, o.Tags), Name: name, Protocols: o.Protocols, Methods: o.Methods, SNIs: o.SNIs,
			HTTPSRedirectStatusCode: o.RedirectStatus, RegexPriority: o.RegexPriority, StripPath: ptr(o.StripPath), PreserveHost: ptr(o.PreserveHost),
			PathHandling: o.PathHandling, RequestBuffering: o.RequestBuffering, ResponseBuffering: o.ResponseBuffering,
		}}
	r.priority = o.RegexPriority != nil
	r.Hosts = hostsOfSource(source)
	if len(o.Headers) > 0 {
		r.Headers = map[string][]string{}
		for _, h := range o.Headers {
			r.Headers[h.Name] = h.Values
		}
	}
	t.setProtocols(r)
	t.checkService(r)
	return r
}

// setProtocols fits protocols, redirect and path to each other.
func (t *translation) setProtocols(r *route) {
	if len(r.Protocols) == 0 {
		r.Protocols = []string{"http", "https"}
	}
	isGRPC := slices.Contains(r.Protocols, "grpc") || slices.Contains(r.Protocols, "grpcs")
	if !isGRPC && !slices.Contains(r.Protocols, "http") && !slices.Contains(r.Protocols, "https") {
		t.problem(r.source.Origin.Ref, "metadata.annotations[konghq.com/protocols]", model.ReasonInvalidAnnotation,
			"an Ingress cannot have the protocols %s, as its rules have paths; http and https are in force", strings.Join(r.Protocols, ","))
		r.Protocols = []string{"http", "https"}
	}
	if isGRPC {
		r.StripPath = ptr(false)
		r.Methods = nil
	}
	if code := r.source.HTTPSOnly; code != 0 {
		r.Protocols = []string{"https"}
		if isGRPC {
			r.Protocols = []string{"grpcs"}
		}
		r.HTTPSRedirectStatusCode = code
	}
	if len(r.SNIs) > 0 && !slices.Contains(r.Protocols, "https") && !slices.Contains(r.Protocols, "grpcs") {
		t.problem(r.source.Origin.Ref, "metadata.annotations[konghq.com/snis]", model.ReasonInvalidAnnotation,
			"there are no server names without TLS; the routes answer 503")
		r.SNIs, r.closed = nil, "server names without TLS"
	}
}

// routeName gives the name of a route; path tells routes apart that would have the same one.
func (t *translation) routeName(source *model.KongRoute, path, suffix string) string {
	name := routeBase(source) + suffix
	return t.name(entity.Routes, name, source.Origin.String()+"\x00"+name+"\x00"+source.Host+"\x00"+source.Service.String()+"\x00"+path)
}

// isStream tells whether a route is of connections or datagrams instead of requests.
func isStream(source *model.KongRoute) bool {
	return source.Kind == model.KongTCP || source.Kind == model.KongUDP
}

// routeBase gives the name of the routes that a source makes, before what tells those apart.
func routeBase(source *model.KongRoute) string {
	host := strings.ReplaceAll(source.Host, "*", "_")
	name := source.Origin.Namespace + "." + source.Origin.Name
	id := source.Service
	switch {
	case isStream(source):
		name += "." + strconv.Itoa(source.Index)
		if source.Kind == model.KongUDP {
			name += ".udp"
		}
	case source.Kind == model.KongHTTPDefault:
	case id.Facade:
		name += "." + host + "." + id.Name + ".svc.facade"
	default:
		name += "." + id.Name + "." + host + "." + id.Port
	}
	if source.Part != "" {
		name += "." + source.Part
	}
	return name
}

// checkService closes a route whose service is closed, or not there.
func (t *translation) checkService(r *route) {
	switch s := t.service(r.to); {
	case r.closed != "":
	case t.closed != "" && !isStream(r.source):
		r.closed = t.closed
	case s == nil:
		r.closed = "no service"
	case s.closed != "":
		r.closed = s.closed
	}
}

// finish gives a route its paths, service and plugins. It tells whether there is anything left of the route.
func (t *translation) finish(r *route) bool {
	if !isStream(r.source) {
		if t.spell(r); len(r.Paths) == 0 {
			return false
		}
		t.applyPolicy(r)
	}
	t.attach(r)
	if r.closed == "" {
		r.Service = t.serviceFor(r)
	} else {
		t.close(r)
	}
	if t.expresses() {
		t.express(r)
	}
	return true
}

// spell writes the paths that are left to the route.
func (t *translation) spell(r *route) {
	for _, p := range r.paths {
		for _, text := range t.paths(p) {
			if !r.lost[text] && !slices.Contains(r.Paths, text) {
				r.Paths = append(r.Paths, text)
			}
		}
	}
}

// close makes the route answer 503, whatever the gateway has of plugins: without a service there is nothing else it could answer.
func (t *translation) close(r *route) {
	if !slices.Contains(r.Protocols, "http") && !slices.Contains(r.Protocols, "https") && !slices.Contains(r.Protocols, "grpc") &&
		!slices.Contains(r.Protocols, "grpcs") || !t.gateway.HasPlugin(requestTermination) {
		return
	}
	t.extra = append(t.extra, extraPlugin{route: r, name: requestTermination, closing: true, config: map[string]any{
		"status_code": 503, "message": "Service Unavailable",
	}})
}

// makeStreamRoute makes the route of a rule of a TCPIngress or UDPIngress.
func (t *translation) makeStreamRoute(source *model.KongRoute) {
	protocols := []string{"tcp", "tls"}
	if source.Kind == model.KongUDP {
		protocols = []string{"udp"}
	}
	name := t.name(entity.Routes, routeBase(source), source.Origin.String()+" "+source.Field)
	passthrough := slices.Equal(source.Options.Protocols, []string{"tls_passthrough"})
	r := &route{source: source, closed: source.Closed, to: source.Service, variant: variant{retries: -1}, Route: &entity.Route{
		Meta: t.meta(entity.Routes, name, source.Origin, source.Field, source.Options.Tags), Name: name, Protocols: protocols,
		Destinations: []entity.Peer{{Port: source.Port}}, StripPath: ptr(false),
	}}
	if source.Host != "" {
		r.SNIs = []string{source.Host}
		r.Protocols = []string{"tls"}
	}
	switch {
	case passthrough && source.Host == "":
		t.problem(source.Origin.Ref, source.Field+".host", model.ReasonInvalidHost, "TLS can only be passed through for a host; the rule is ignored")
		return
	case passthrough:
		r.Protocols, r.Destinations = []string{"tls_passthrough"}, nil
	}
	if t.gateway.StreamPorts != nil && !slices.Contains(t.gateway.StreamPorts, source.Port) {
		t.problem(source.Origin.Ref, source.Field+".port", model.ReasonUnavailable,
			"the gateway does not listen on port %d; add it to its setting stream_listen", source.Port)
	}
	if t.checkService(r); r.closed != "" {
		t.problem(source.Origin.Ref, source.Field, model.ReasonInvalidBackend, "%s; connections are closed", r.closed)
	}
	t.routes = append(t.routes, r)
}

// describe says for people where a route is.
func (r *route) describe() string {
	return fmt.Sprintf("%s of %s", r.source.Field, r.source.Origin.Ref)
}
