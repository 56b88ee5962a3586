// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"cmp"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
)

// Request is one that a client would send through the gateway.
type Request struct {
	Scheme, Method, Host, Path string
	Header                     map[string]string
}

// Answer is what would become of it.
type Answer struct {
	// Status is 200 when it is sent on, else the gateway's own: 404, 426 or the route's redirect, 503.
	Status int
	// Route and Service are names, or ids where there are none.
	Route, Service string
	// Upstream is the name of the upstream, Targets those with a weight, sorted.
	Upstream string
	Targets  []string
	// Path and Host are what the target gets; the host is empty where it is the target's own.
	Path, Host string
	// Plugins are the names of those that work on the request, sorted.
	Plugins []string
}

// Route tells which way a request takes in a gateway of flavor traditional_compatible or expressions, by what Kong documents of it.
func (s *Simulator) Route(r Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Scheme, r.Method = cmp.Or(r.Scheme, "http"), cmp.Or(r.Method, "GET")
	var best *candidate
	for _, o := range s.store.all("routes") {
		if c := s.match(o, r); c != nil && (best == nil || c.compare(best) > 0) {
			best = c
		}
	}
	if best == nil {
		return Answer{Status: 404}
	}
	return s.proxy(best, r)
}

// candidate is a route that takes the request, with what decides between several.
type candidate struct {
	route            object
	kinds, headers   int
	plainHosts       bool
	expression       bool
	priority, length float64
	matched          string
	rank             float64 // of an expression
}

func (c *candidate) compare(o *candidate) int {
	return cmp.Or(
		cmp.Compare(c.rank, o.rank), cmp.Compare(c.kinds, o.kinds), compareBool(c.plainHosts, o.plainHosts), cmp.Compare(c.headers, o.headers),
		compareBool(c.expression, o.expression), cmp.Compare(c.priority, o.priority), cmp.Compare(c.length, o.length),
		cmp.Compare(c.route["id"].(string), o.route["id"].(string)),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (s *Simulator) match(o object, r Request) *candidate {
	c := &candidate{route: o}
	if service := s.store.get("services", idOf(o["service"])); service != nil && service["enabled"] == false {
		return nil
	}
	protocols := texts(o["protocols"])
	if !slices.Contains(protocols, "http") && !slices.Contains(protocols, "https") && !slices.ContainsFunc(protocols, isGRPC) {
		return nil
	}
	if text, ok := o["expression"].(string); ok {
		holds, err := parseExpression(text)
		if err != nil || !holds(r.field) {
			return nil
		}
		c.rank, _ = o["priority"].(float64)
		return c
	}
	if methods := texts(o["methods"]); len(methods) > 0 {
		if !slices.Contains(methods, r.Method) {
			return nil
		}
		c.kinds++
	}
	if !c.matchHost(texts(o["hosts"]), r.Host) || !c.matchHeaders(o["headers"], r.Header) || !s.matchPath(c, texts(o["paths"]), r.Path) {
		return nil
	}
	c.priority, _ = o["regex_priority"].(float64)
	if !c.expression {
		c.priority = 0
	}
	return c
}

func isGRPC(protocol string) bool { return strings.HasPrefix(protocol, "grpc") }

func (c *candidate) matchHost(hosts []string, host string) bool {
	if len(hosts) == 0 {
		return true
	}
	c.kinds++
	c.plainHosts = !slices.ContainsFunc(hosts, func(h string) bool { return strings.Contains(h, "*") })
	bare, _, err := net.SplitHostPort(host)
	if err != nil {
		bare = host
	}
	return slices.ContainsFunc(hosts, func(h string) bool {
		h, against := strings.ToLower(h), strings.ToLower(bare)
		if strings.Contains(h, ":") {
			against = strings.ToLower(host)
		}
		if suffix, ok := strings.CutPrefix(h, "*"); ok {
			return strings.HasSuffix(against, suffix) && len(against) > len(suffix)
		}
		if prefix, ok := strings.CutSuffix(h, "*"); ok {
			return strings.HasPrefix(against, prefix) && len(against) > len(prefix)
		}
		return h == against
	})
}

func (c *candidate) matchHeaders(wanted any, header map[string]string) bool {
	headers, _ := wanted.(object)
	if len(headers) == 0 {
		return true
	}
	c.kinds++
	c.headers = len(headers)
	for name, values := range headers {
		found := false
		for sent, value := range header {
			found = found || strings.EqualFold(sent, name) && headerMatches(texts(values), value)
		}
		if !found {
			return false
		}
	}
	return true
}

func headerMatches(wanted []string, value string) bool {
	if len(wanted) == 1 {
		if expression, ok := strings.CutPrefix(wanted[0], "~*"); ok {
			matched, err := regexp.MatchString("(?i)"+expression, value)
			return err == nil && matched
		}
	}
	return slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, value) })
}

// matchPath finds the best of the route's paths: an expression before a prefix, then the longer.
func (s *Simulator) matchPath(c *candidate, paths []string, path string) bool {
	if len(paths) == 0 {
		return true
	}
	c.kinds++
	path, _, _ = strings.Cut(path, "?")
	path = normalPath(path)
	found := false
	for _, p := range paths {
		expression, isExpression := strings.CutPrefix(p, "~")
		if !s.version.atLeast(version{3, 0}) {
			isExpression = !plainPath.MatchString(p)
		}
		matched := ""
		if isExpression {
			re, err := regexp.Compile("^(?:" + expression + ")")
			if err != nil || !re.MatchString(path) {
				continue
			}
			matched = re.FindString(path)
		} else if !strings.HasPrefix(path, p) {
			continue
		} else {
			matched = p
		}
		if !found || isExpression && !c.expression || isExpression == c.expression && float64(len(p)) > c.length {
			c.expression, c.length, c.matched = isExpression, float64(len(p)), matched
		}
		found = true
	}
	return found
}

// proxy is what happens once the route is chosen.
func (s *Simulator) proxy(c *candidate, r Request) Answer {
	a := Answer{Status: 200, Route: label(c.route), Plugins: s.pluginsOf(c.route)}
	if protocols := texts(c.route["protocols"]); r.Scheme == "http" && !slices.Contains(protocols, "http") && !slices.Contains(protocols, "grpc") {
		status, _ := c.route["https_redirect_status_code"].(float64)
		a.Status = int(status)
		return a
	}
	service := s.store.get("services", idOf(c.route["service"]))
	if service == nil {
		a.Status = 503
		return a
	}
	a.Service = label(service)
	a.Path = joinPath(service["path"], r.Path, c)
	if c.route["preserve_host"] == true {
		a.Host = r.Host
	}
	upstream := s.store.get("upstreams", s.store.byField("upstreams", "name", service["host"]))
	if upstream == nil {
		host, _ := service["host"].(string)
		a.Targets = []string{host}
		return a
	}
	a.Upstream = label(upstream)
	if header, ok := upstream["host_header"].(string); ok && a.Host == "" {
		a.Host = header
	}
	for _, id := range s.store.childrenOf("targets", "upstreams", upstream["id"].(string)) {
		if t := s.store.get("targets", id); t["weight"] != 0.0 {
			a.Targets = append(a.Targets, t["target"].(string))
		}
	}
	slices.Sort(a.Targets)
	if len(a.Targets) == 0 {
		a.Status = 503
	}
	return a
}

// joinPath gives the path that a target gets: that of the service, then what is left of the request's.
func joinPath(base any, path string, c *candidate) string {
	path, query, hasQuery := strings.Cut(path, "?")
	if c.route["strip_path"] == true {
		path = strings.TrimPrefix(path, c.matched)
	}
	prefix, _ := base.(string)
	joined := strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(path, "/")
	if path == "" && prefix != "" && prefix != "/" {
		joined = prefix
	}
	if hasQuery {
		joined += "?" + query
	}
	return joined
}

// pluginsOf lists the plugins for a route's requests, of whichever consumer.
func (s *Simulator) pluginsOf(route object) []string {
	names := map[string]bool{}
	for _, p := range s.store.all("plugins") {
		forRoute := p["route"] == nil || idOf(p["route"]) == route["id"]
		forService := p["service"] == nil || idOf(p["service"]) == idOf(route["service"])
		if p["enabled"] != false && p["consumer"] == nil && p["consumer_group"] == nil && forRoute && forService {
			names[p["name"].(string)] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func label(o object) string {
	if name, ok := o["name"].(string); ok {
		return name
	}
	return o["id"].(string)
}
