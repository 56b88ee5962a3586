// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// site is a set of routes that may have something to do with each other: those that share a host or a port, and those whose names could clash. No
// route outside matters to it.
type site struct {
	unit
	sources []*model.KongRoute // in the order of the model
	asked   []asked
	needs   []*need
	uses    []pluginUse
	extra   []extraPlugin
	wild    []wildHost
	plugins pluginUnit
}

// asked is what a site was told about a service.
type asked struct {
	id   model.KongServiceID
	view *serviceView
}

// sourceMemory is what tells to which site a route of the model belongs.
type sourceMemory struct {
	seen  uint64
	name  string // of its routes, without what tells those apart
	spots []*spot
	site  *site // that it was of
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

// addSites sorts the routes of the model into sites and brings those up to date.
func (r *round) addSites() {
	routes := r.kong.Routes
	memories, groups := make([]*sourceMemory, len(routes)), newGroups(len(routes))
	for i, source := range routes {
		memories[i] = r.sourceOf(source)
		for _, s := range memories[i].spots {
			if s.seen == r.now {
				groups.join(s.first, i)
			} else {
				s.seen, s.first = r.now, i
			}
		}
	}
	// A site is the same when its first route was of a site of just these routes.
	counts, others := make([]int, len(routes)), map[int][]*model.KongRoute{}
	for i, source := range routes {
		root := groups.find(i)
		known, n := memories[root].site, counts[root]
		if known == nil || n >= len(known.sources) || known.sources[n] != source {
			others[root] = nil
		}
		counts[root]++
	}
	for root, n := range counts {
		if known := memories[root].site; n > 0 && known != nil && n != len(known.sources) {
			others[root] = nil
		}
	}
	if len(others) > 0 {
		for i, source := range routes {
			root := groups.find(i)
			if list, changed := others[root]; changed {
				others[root] = append(list, source)
			}
		}
	}
	for root, n := range counts {
		if n == 0 {
			continue
		}
		s := memories[root].site
		sources, changed := others[root]
		if changed {
			s = r.siteNamed(memories[root].name)
			s.sources = sources
		}
		r.bringSite(s, !changed)
	}
}

// siteNamed gives the site whose first route has a name, which no two sites share.
func (r *round) siteNamed(name string) *site {
	s := r.sites[name]
	if s == nil {
		s = &site{unit: unit{rank: "route/" + name}, plugins: newPluginUnit("route/" + name)}
		r.sites[name] = s
	}
	return s
}

// bringSite translates a site, unless it is the same.
func (r *round) bringSite(s *site, same bool) {
	r.current = append(r.current, s)
	same = same && !slices.ContainsFunc(s.asked, func(a asked) bool { return r.view(a.id) != a.view })
	t := r.bring(&s.unit, same, func(t *translation) { t.addRoutes(s.sources) })
	if t == nil {
		return
	}
	s.asked, s.needs, s.uses, s.extra, s.wild = t.asked, t.needs, t.uses, t.extra, t.wildHosts()
	for _, source := range s.sources {
		r.sources[source].site = s
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
