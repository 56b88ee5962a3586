// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"cmp"
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
)

// pluginUnit are the plugins of a bundle, of a service, or of consumers. Of two plugins for the same requests both are of one unit.
type pluginUnit struct {
	unit
	of   uint64 // version of the unit whose uses these are
	from []described
}

func newPluginUnit(rank string) pluginUnit { return pluginUnit{unit: unit{rank: "plugin/" + rank}} }

// described is a KongPlugin, and what has to be known of those who ask for it elsewhere.
type described struct {
	plugin *model.KongPlugin
	// several says that the plugin becomes more than one entity, where that is of interest.
	several bool
	// people are consumers and groups who ask for it: it works where both meet. Nowhere says that it is for them wherever they go, and global that it
	// is for everybody.
	people          []scope
	nowhere, global bool
}

func (d described) equal(o described) bool {
	return d.plugin == o.plugin && d.several == o.several && d.nowhere == o.nowhere && d.global == o.global && slices.Equal(d.people, o.people)
}

// standing is who asks for a plugin.
type standing struct {
	places int // routes and services
	people []scope
	global bool
}

// addPlugins makes one entity for each plugin and scope. Of two plugins of one name and scope the older object has it.
func (r *round) addPlugins() {
	r.standing = map[*model.KongPlugin]*standing{}
	for _, s := range r.current {
		r.count(s.uses)
	}
	for _, s := range r.served {
		r.count(s.uses)
	}
	r.count(r.people.uses)
	t := &translation{round: r}
	var global []*model.KongPlugin
	for _, p := range r.kong.GlobalPlugins {
		if t.usable(p) {
			r.standingOf(p).global = true
			global = append(global, p)
		}
	}
	for _, s := range r.current {
		r.bringPlugins(&s.plugins, &s.unit, r.describe(s.uses, nil), s.uses, s.extra)
	}
	for _, s := range r.served {
		r.bringPlugins(&s.plugins, &s.unit, r.describe(s.uses, nil), s.uses, nil)
	}
	p := &r.people
	r.bringPlugins(&p.plugins, &p.unit, r.describe(p.uses, global), nil, nil)
}

func (r *round) standingOf(p *model.KongPlugin) *standing {
	s := r.standing[p]
	if s == nil {
		s = &standing{}
		r.standing[p] = s
	}
	return s
}

func (r *round) count(uses []pluginUse) {
	for _, u := range uses {
		if s := r.standingOf(u.plugin); u.route != nil || u.service != nil {
			s.places++
		} else {
			s.people = append(s.people, u.scope)
		}
	}
}

// describe lists the plugins of uses, each once, the oldest first. With global ones these are the uses of people.
func (r *round) describe(uses []pluginUse, global []*model.KongPlugin) []described {
	var list []described
	add := func(p *model.KongPlugin, ofPeople bool) {
		if slices.ContainsFunc(list, func(d described) bool { return d.plugin == p }) {
			return
		}
		s := r.standing[p]
		d := described{plugin: p, people: s.people, several: p.InstanceName != "" && s.several()}
		if ofPeople {
			d.nowhere, d.global = s.places == 0, s.global
		}
		list = append(list, d)
	}
	for _, u := range uses {
		add(u.plugin, u.route == nil && u.service == nil)
	}
	for _, p := range global {
		add(p, true)
	}
	slices.SortStableFunc(list, func(a, b described) int {
		return cmp.Or(a.plugin.Created.Compare(b.plugin.Created), a.plugin.Origin.Compare(b.plugin.Origin.Ref))
	})
	return list
}

// several tells whether a plugin becomes more than one entity.
func (s *standing) several() bool {
	n := s.places + len(s.people)
	if s.places > 0 && len(s.people) > 0 {
		n = s.places * len(s.people)
	}
	if s.global {
		n++
	}
	return n > 1
}

// bringPlugins brings the plugins of a unit up to date. Uses are those of routes and services; those of people are in the descriptions.
func (r *round) bringPlugins(u *pluginUnit, of *unit, from []described, uses []pluginUse, extra []extraPlugin) {
	same := u.of == of.version && slices.EqualFunc(u.from, from, described.equal)
	r.bring(&u.unit, same, func(t *translation) {
		taken := map[string]model.Ref{}
		for _, d := range from {
			for _, s := range d.scopes(uses) {
				t.addPlugin(d.plugin, s, d.several, taken)
			}
		}
		for _, x := range extra {
			t.addExtra(x, taken)
		}
	})
	u.of, u.from = of.version, from
}

// scopes gives the scopes of a plugin. With consumers, or groups, beside routes and services it works where both meet.
func (d described) scopes(uses []pluginUse) []scope {
	var places, all []scope
	for _, u := range uses {
		if u.plugin == d.plugin {
			places = append(places, u.scope)
		}
	}
	switch {
	case d.nowhere:
		all = slices.Clone(d.people)
	case len(d.people) == 0:
		all = places
	default:
		for _, who := range d.people {
			for _, where := range places {
				all = append(all, scope{where.route, where.service, who.consumer, who.group})
			}
		}
	}
	if d.global {
		all = append(all, scope{})
	}
	return all
}
