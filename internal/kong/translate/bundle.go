// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// bundle is a set of routes that may have something to do with each other: those that share a host or a port, and those whose names could clash. No
// route outside matters to it.
type bundle struct {
	unit
	sources []*model.KongRoute // in the order of the model
	asked   []asked
	needs   []*need
	uses    []pluginUse
	extra   []extraPlugin
	wild    []wildHost
	plugins pluginUnit
}

// asked is what a bundle was told about a service.
type asked struct {
	id   model.KongServiceID
	view *serviceView
}

// sourceMemory is what tells to which bundle a route of the model belongs.
type sourceMemory struct {
	seen   uint64
	name   string // of its routes, without what tells those apart
	spots  []*spot
	bundle *bundle // that it was of
}

// spot is something that routes can share: a host, a port, or the beginning of a name.
type spot struct {
	seen  uint64
	first int // the first route at the spot, by its number
}

// sourceOf gives the memory of a route of the model.
func (r *round) sourceOf(source *model.KongRoute) *sourceMemory {
	m := r.sources[source]
	if m == nil {
		m = &sourceMemory{name: stem(routeBase(source))}
		for _, key := range append(matchesOf(source), "name\x00"+m.name) {
			s := r.spots[key]
			if s == nil {
				s = &spot{}
				r.spots[key] = s
			}
			m.spots = append(m.spots, s)
		}
		r.sources[source] = m
	}
	m.seen = r.now
	return m
}

// matchesOf gives the hosts of a route, or what stands for them.
func matchesOf(source *model.KongRoute) []string {
	if isStream(source) {
		return []string{"stream\x00" + streamKey(source)}
	}
	if source.Host == "" {
		return []string{"host\x00"}
	}
	var keys []string
	for _, host := range hostsOfSource(source) {
		keys = append(keys, "host\x00"+host)
	}
	return keys
}

// stem cuts off a name what is put behind those of routes that one object makes; see makeRoutes and addCanaries.
func stem(name string) string {
	for _, suffix := range []string{".exact", ".canary-"} {
		name, _, _ = strings.Cut(name, suffix)
	}
	return name
}

// addBundles sorts the routes of the model into bundles and brings those up to date, in the order of their first routes.
func (r *round) addBundles() {
	memories, roots := r.sort()
	changed := r.changedBundles(memories, roots)
	for i, root := range roots {
		if i != root {
			continue
		}
		b := memories[root].bundle
		sources, others := changed[root]
		if others {
			b = r.bundleNamed(memories[root].name)
			b.sources = sources
		}
		r.bringBundle(b, !others)
	}
}

// sort gives the memories of all routes, and for each the number of the first route in its bundle.
func (r *round) sort() (memories []*sourceMemory, roots []int) {
	memories = make([]*sourceMemory, len(r.kong.Routes))
	groups := newGroups(len(memories))
	for i, source := range r.kong.Routes {
		memories[i] = r.sourceOf(source)
		for _, s := range memories[i].spots {
			if s.seen == r.now {
				groups.join(s.first, i)
			} else {
				s.seen, s.first = r.now, i
			}
		}
	}
	roots = make([]int, len(memories))
	for i := range roots {
		roots[i] = groups.find(i)
	}
	return memories, roots
}

// changedBundles gives the routes of those bundles that were not the same last time, by the number of the first. One is the same when its first
// route was of a bundle of just these routes.
func (r *round) changedBundles(memories []*sourceMemory, roots []int) map[int][]*model.KongRoute {
	changed, counts := map[int][]*model.KongRoute{}, make([]int, len(roots))
	for i, root := range roots {
		known, n := memories[root].bundle, counts[root]
		if known == nil || n >= len(known.sources) || known.sources[n] != r.kong.Routes[i] {
			changed[root] = nil
		}
		counts[root]++
	}
	for root, n := range counts {
		if known := memories[root].bundle; n > 0 && known != nil && n != len(known.sources) {
			changed[root] = nil
		}
	}
	for i, root := range roots {
		if list, found := changed[root]; found {
			changed[root] = append(list, r.kong.Routes[i])
		}
	}
	return changed
}

// bundleNamed gives the bundle whose first route has a name, which no two bundles share.
func (r *round) bundleNamed(name string) *bundle {
	b := r.bundles[name]
	if b == nil {
		b = &bundle{unit: unit{rank: "route/" + name}, plugins: newPluginUnit("route/" + name)}
		r.bundles[name] = b
	}
	return b
}

// bringBundle translates a bundle, unless it is the same.
func (r *round) bringBundle(b *bundle, same bool) {
	r.current = append(r.current, b)
	same = same && !slices.ContainsFunc(b.asked, func(a asked) bool { return r.view(a.id) != a.view })
	t := r.bring(&b.unit, same, func(t *translation) { t.addRoutes(b.sources) })
	if t == nil {
		return
	}
	b.asked, b.needs, b.uses, b.extra, b.wild = t.asked, t.needs, t.uses, t.extra, t.wildHosts()
	for _, source := range b.sources {
		r.sources[source].bundle = b
	}
}

// groups are sets of numbers, each known by its least member.
type groups []int

func newGroups(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = i
	}
	return g
}

func (g groups) find(i int) int {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(i, j int) {
	i, j = g.find(i), g.find(j)
	g[max(i, j)] = min(i, j)
}
