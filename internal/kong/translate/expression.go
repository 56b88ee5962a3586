// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// expresses tells whether routes are expressions.
func (t *translation) expresses() bool { return t.gateway.Flavor == "expressions" }

func splitAll(paths []model.KongPath) [][]model.KongPath {
	var parts [][]model.KongPath
	for _, p := range paths {
		parts = append(parts, []model.KongPath{p})
	}
	return parts
}

// express writes what a route matches as an expression, for gateways of that flavor, which have no other way.
func (t *translation) express(r *route) {
	var all []string
	one := func(parts []string) {
		switch len(parts) {
		case 0:
		case 1:
			all = append(all, parts[0])
		default:
			all = append(all, "("+strings.Join(parts, " || ")+")")
		}
	}
	if !onlySecure(r.Protocols) {
		one(each(r.Protocols, func(p string) string { return "net.protocol == " + quote(p) }))
	}
	one(each(r.Methods, func(m string) string { return "http.method == " + quote(m) }))
	one(each(r.Hosts, expressHost))
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		field := "http.headers." + strings.ReplaceAll(strings.ToLower(name), "-", "_")
		one(each(r.Headers[name], func(v string) string {
			if pattern, ok := strings.CutPrefix(v, "~*"); ok {
				return field + " ~ " + quote("(?i)"+pattern)
			}
			return field + " == " + quote(v)
		}))
	}
	one(each(r.SNIs, func(s string) string { return "tls.sni == " + quote(s) }))
	one(each(r.Paths, expressPath))
	for _, d := range r.Destinations {
		one([]string{"net.dst.port == " + strconv.Itoa(d.Port)})
	}
	r.Expression, r.Priority = strings.Join(all, " && "), r.weight()
	r.Methods, r.Hosts, r.Headers, r.SNIs, r.Paths, r.Destinations, r.RegexPriority = nil, nil, nil, nil, nil, nil, nil
}

// onlySecure tells whether the route is for TLS alone, or for gRPC: then its protocols say so, and plain requests have to find it to be redirected.
func onlySecure(protocols []string) bool {
	return !slices.ContainsFunc(protocols, func(p string) bool { return p != "https" && p != "grpc" && p != "grpcs" })
}

func each(list []string, write func(string) string) []string {
	parts := make([]string, len(list))
	for i, item := range list {
		parts[i] = write(item)
	}
	return parts
}

// expressHost lets a wildcard stand for one label, as Kubernetes wants it.
func expressHost(host string) string {
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		return "http.host ~ " + quote("^[^.]+\\."+regexp.QuoteMeta(rest)+"$")
	}
	return "http.host == " + quote(host)
}

func expressPath(path string) string {
	expression, ok := strings.CutPrefix(path, "~")
	if !ok {
		return "http.path ^= " + quote(path)
	}
	return "http.path ~ " + quote("^"+expression)
}

// quote writes a text of the language, in which only quotation mark and backslash need one before them.
func quote(text string) string {
	return "\"" + strings.NewReplacer("\\", "\\\\", "\"", "\\\"").Replace(text) + "\""
}

// weight orders routes as the flavors with fields do: kinds of matchers, plain hosts, headers, expressions and their priority, length.
func (r *route) weight() int64 {
	kinds, plain, expression, longest := 0, int64(1), int64(0), 0
	for _, set := range []bool{len(r.Methods) > 0, len(r.Hosts) > 0, len(r.Headers) > 0, len(r.SNIs) > 0, len(r.Paths) > 0} {
		if set {
			kinds++
		}
	}
	for _, h := range r.Hosts {
		if strings.HasPrefix(h, "*") {
			plain = 0
		}
	}
	// The path of a prefix itself is an expression too, and yet no more than the prefix.
	if r.has(model.KongExact) || r.has(model.KongRegex) {
		expression = 1
	}
	for _, p := range r.Paths {
		if expression == 1 || !strings.HasPrefix(p, "~") {
			longest = max(longest, len(p))
		}
	}
	priority := int64(0)
	if r.RegexPriority != nil {
		priority = int64(max(0, min(*r.RegexPriority, 1<<10-1)))
	}
	w := int64(3)
	for _, part := range []struct {
		bits  int
		value int64
	}{{3, int64(kinds)}, {1, plain}, {5, int64(min(len(r.Headers), 31))}, {1, expression}, {10, priority}, {12, int64(min(longest, 1<<12-1))}} {
		w = w<<part.bits | part.value
	}
	return w
}
