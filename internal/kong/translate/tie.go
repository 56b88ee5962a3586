// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Which of two routes takes a request must not be left to chance. Kong compares, in this order: how many kinds of matchers a route has, whether its
// hosts have wildcards, the number of headers, expressions before prefixes, the priority of expressions, the length of prefixes; then the id. So
// what is equal up to the priority of expressions has to differ there, and what is equal in all is given to the older.

// settle decides among routes with the same matchers beside the path. It keeps the order of age.
func (t *translation) settle() {
	groups := map[string][]*route{}
	var order []string
	for _, r := range t.routes {
		if isStream(r.source) {
			continue
		}
		for _, host := range hostsOf(r) {
			key := host + "\x00" + r.matchers()
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], r)
		}
	}
	for _, key := range order {
		t.dropDuplicates(groups[key])
		leaveToExact(groups[key])
		t.rank(groups[key])
	}
	t.settleStreams()
	t.tellDeeper()
	t.routes = slices.DeleteFunc(t.routes, func(r *route) bool { return len(r.paths) == 0 && len(r.Destinations) == 0 && len(r.SNIs) == 0 })
}

func hostsOf(r *route) []string {
	if len(r.Hosts) == 0 {
		return []string{""}
	}
	return r.Hosts
}

// matchers is what tells a route from others beside host and path. The protocol is no matcher of HTTP routes: that of a wrong one redirects.
func (r *route) matchers() string {
	headers := make([]string, 0, len(r.Headers))
	for name, values := range r.Headers {
		headers = append(headers, name+"="+strings.Join(sortedCopy(values), ","))
	}
	slices.Sort(headers)
	return fmt.Sprint(sortedCopy(r.Methods), headers, sortedCopy(r.SNIs))
}

// dropDuplicates leaves a path to the oldest of the routes that have it. A default backend has none of its own.
func (t *translation) dropDuplicates(group []*route) {
	type key struct {
		kind model.KongPathKind
		path string
	}
	owners := map[key]*route{}
	slices.SortStableFunc(group, func(a, b *route) int { return cmp.Compare(isDefault(a), isDefault(b)) })
	for _, r := range group {
		r.paths = slices.DeleteFunc(slices.Clone(r.paths), func(p model.KongPath) bool {
			k := key{p.Kind, p.Path}
			if p.Kind == model.KongPrefix && p.Path == "/" {
				k.kind = model.KongText // the same to Kong
			}
			owner := owners[k]
			if owner == nil {
				owners[k] = r
				return false
			}
			if owner == r {
				return len(r.Hosts) < 2 // a second host of the same route is no duplicate
			}
			if !isDefaultRoute(r) && owner.source != r.source {
				t.problem(r.source.Origin.Ref, p.Field, model.ReasonShadowed, "%s is older and has the same host and path; this one is not served",
					owner.describe())
			}
			return true
		})
	}
}

func isDefaultRoute(r *route) bool { return r.source.Kind == model.KongHTTPDefault }

func isDefault(r *route) int {
	if isDefaultRoute(r) {
		return 1
	}
	return 0
}

// leaveToExact takes from prefixes the path itself where somebody has it as exact path.
func leaveToExact(group []*route) {
	exact := map[string]bool{}
	for _, r := range group {
		for _, p := range r.paths {
			if p.Kind == model.KongExact {
				exact[regexp.QuoteMeta(normalize(p.Path))+"$"] = true
			}
		}
	}
	for _, r := range group {
		for _, p := range r.paths {
			text := regexp.QuoteMeta(normalize(p.Path)) + "$"
			if p.Kind != model.KongPrefix || !exact[text] || slices.ContainsFunc(r.paths, func(q model.KongPath) bool {
				return q.Kind == model.KongExact && q.Path == p.Path
			}) {
				continue
			}
			r.lost[text], r.lost["~"+text] = true, true
		}
	}
}

// rank gives expressions priorities, unless annotations do: exact paths stand above those of users, of which the longest comes first, and those that
// stand for the path of a prefix below all.
func (t *translation) rank(group []*route) {
	var free []*route
	annotated, prefixes := false, false
	for _, r := range group {
		prefixes = prefixes || r.has(model.KongPrefix)
		switch {
		case !r.has(model.KongRegex):
		case r.priority:
			annotated = true
		default:
			free = append(free, r)
		}
	}
	least := 0
	if prefixes && len(free) > 0 {
		least = 1
	}
	top := 1
	if annotated {
		t.tellTies(free)
	} else {
		slices.SortStableFunc(free, func(a, b *route) int { return cmp.Compare(longestExpression(b), longestExpression(a)) })
		for i, r := range free {
			r.raise(least + len(free) - 1 - i)
		}
		top = max(1, least+len(free))
	}
	for _, r := range group {
		if !r.priority && r.has(model.KongExact) {
			r.raise(top)
		}
	}
}

// raise gives the route's expressions at least that priority.
func (r *route) raise(priority int) {
	if r.RegexPriority != nil {
		priority = max(priority, *r.RegexPriority)
	}
	if priority > 0 {
		r.RegexPriority = ptr(priority)
	}
}

func (r *route) has(kind model.KongPathKind) bool {
	return slices.ContainsFunc(r.paths, func(p model.KongPath) bool { return p.Kind == kind && (kind != model.KongPrefix || p.Path != "/") })
}

func longestExpression(r *route) int {
	longest := 0
	for _, p := range r.paths {
		if p.Kind == model.KongRegex {
			longest = max(longest, len(p.Path))
		}
	}
	return longest
}

func (t *translation) tellTies(free []*route) {
	for i, r := range free {
		if i > 0 {
			t.problem(r.source.Origin.Ref, r.paths[0].Field, model.ReasonInvalidPath,
				"%s has expressions for the same host and no priority either, so that Kong decides where both match; write konghq.com/regex-priority",
				free[0].describe())
		}
	}
}

// settleStreams leaves a port, and server name, to the oldest route.
func (t *translation) settleStreams() {
	owners := map[string]*route{}
	t.routes = slices.DeleteFunc(t.routes, func(r *route) bool {
		if !isStream(r.source) {
			return false
		}
		key := streamKey(r.source)
		owner := owners[key]
		if owner == nil {
			owners[key] = r
			return false
		}
		t.problem(r.source.Origin.Ref, r.Field, model.ReasonShadowed, "%s is older and has the same port and host; this one is not served",
			owner.describe())
		return true
	})
}

// streamKey is the same for routes that take the same connections or datagrams.
func streamKey(source *model.KongRoute) string {
	transport := "tcp"
	if source.Kind == model.KongUDP {
		transport = "udp"
	}
	if slices.Equal(source.Options.Protocols, []string{"tls_passthrough"}) {
		return fmt.Sprint(transport, " passthrough ", source.Host)
	}
	return fmt.Sprint(transport, " ", source.Port, " ", source.Host)
}

// wildHost is a host with a wildcard, and the oldest route that has it.
type wildHost struct {
	host  string
	owner model.Ref
	field string
}

func hostsOfSource(source *model.KongRoute) []string {
	if source.Host == "" {
		return nil
	}
	return append([]string{source.Host}, sortedCopy(source.Aliases)...)
}

// wildHosts lists those of a bundle, each once.
func (t *translation) wildHosts() []wildHost {
	var found []wildHost
	for _, r := range t.routes {
		if len(r.paths) == 0 {
			continue
		}
		for _, host := range hostsOfSource(r.source) {
			known := slices.ContainsFunc(found, func(w wildHost) bool { return w.host == host })
			if strings.HasPrefix(host, "*.") && !known {
				found = append(found, wildHost{host, r.source.Origin.Ref, r.paths[0].Field})
			}
		}
	}
	return found
}

// tellWildcards reports hosts with a wildcard below another's: Kong takes both to match, and for equal paths decides by id.
func (r *round) tellWildcards() {
	wild := map[string]wildHost{}
	for _, s := range r.current {
		for _, w := range s.wild {
			wild[w.host] = w
		}
	}
	for host, w := range wild {
		for rest := host[2:]; ; {
			_, above, found := strings.Cut(rest, ".")
			if !found {
				break
			}
			if other, known := wild["*."+above]; known {
				r.told = append(r.told, model.Problem{Object: w.owner, Field: w.field, Reason: model.ReasonAmbiguous, Message: fmt.Sprintf(
					"Kong takes *.%s of %s for names below %s too, and where both have a path decides by itself", above, other.owner, host[2:])})
				break
			}
			rest = above
		}
	}
}
