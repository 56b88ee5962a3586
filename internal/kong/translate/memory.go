// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"maps"
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// memory holds the units that were translated last for one gateway. It never changes what a translation gives, only what it costs: a unit stays as it
// is only while all that it depends on is the same. Units that a translation did not use are forgotten at its end.
type memory struct {
	gateway      *entity.Gateway
	now          uint64 // counts the translations
	era          uint64 // counts the surroundings
	surroundings surroundings
	authorityIDs map[string]string // of CA certificates, by digest; part of the surroundings
	pool         *pool

	bound  map[model.KongServiceID]*boundService
	listed []*model.KongService // the same, in order

	certificates map[*model.KongCertificate]*unit
	serverNames  map[model.KongServerName]*unit
	authorities  map[*model.KongAuthority]*unit
	people       people
	last         *translated // nil before the first
	sources      map[*model.KongRoute]*sourceMemory
	spots        map[string]*spot
	bundles      map[string]*bundle
	services     map[string]*serviceUnit
	upstreams    map[string]*upstreamUnit
}

func newMemory(gateway *entity.Gateway) *memory {
	return &memory{
		gateway: gateway, pool: newPool(), bound: map[model.KongServiceID]*boundService{}, certificates: map[*model.KongCertificate]*unit{},
		serverNames: map[model.KongServerName]*unit{}, authorities: map[*model.KongAuthority]*unit{}, people: people{unit: unit{rank: "consumer"}, plugins: newPluginUnit("consumer")},
		sources: map[*model.KongRoute]*sourceMemory{}, spots: map[string]*spot{}, bundles: map[string]*bundle{}, services: map[string]*serviceUnit{},
		upstreams: map[string]*upstreamUnit{},
	}
}

// surroundings are what every unit may depend on and hardly ever changes.
type surroundings struct {
	closed      string // why all routes are
	globals     []*model.KongPlugin
	authorities []*model.KongAuthority
}

// surround begins another era when the surroundings are others than last time.
func (m *memory) surround(s surroundings) {
	last := &m.surroundings
	if m.era > 0 && last.closed == s.closed && slices.Equal(last.globals, s.globals) && slices.Equal(last.authorities, s.authorities) {
		return
	}
	m.era++
	m.surroundings, m.authorityIDs = s, map[string]string{}
	for _, a := range s.authorities {
		m.authorityIDs[(&entity.CACertificate{Cert: a.Cert}).Digest()] = a.ID
	}
}

// boundService is a service of the model, and what routes may know of it.
type boundService struct {
	service *model.KongService
	view    *serviceView
}

// serviceView is all of a service that its routes depend on. Endpoints that come and go leave it the same, but for the first and the last.
type serviceView struct {
	id      model.KongServiceID
	origin  model.Origin
	closed  string
	plugins []model.KongAttachment
	serves  bool // there is a target that takes new requests
}

func viewOf(s *model.KongService) *serviceView {
	return &serviceView{id: s.ID, origin: s.Origin, closed: s.Closed, plugins: s.Plugins, serves: len(serving(s.Targets)) > 0}
}

func (v *serviceView) equal(o *serviceView) bool {
	return v.id == o.id && v.origin == o.origin && v.closed == o.closed && v.serves == o.serves && slices.Equal(v.plugins, o.plugins)
}

// bind notes the services of a model. Most are those of the model before, in the same places.
func (m *memory) bind(services []*model.KongService) {
	moved := len(services) != len(m.listed)
	for i := 0; i < len(services) && !moved; i++ {
		if s := services[i]; s != m.listed[i] {
			moved = s.ID != m.listed[i].ID
			if !moved {
				rebound(m.bound[s.ID], s)
			}
		}
	}
	if m.listed = services; !moved {
		return
	}
	before := m.bound
	m.bound = make(map[model.KongServiceID]*boundService, len(services))
	for _, s := range services {
		m.bound[s.ID] = rebound(before[s.ID], s)
	}
}

// rebound notes the service that is bound now, and keeps the view when it looks the same to routes.
func rebound(b *boundService, s *model.KongService) *boundService {
	switch view := viewOf(s); {
	case b == nil:
		return &boundService{s, view}
	case !view.equal(b.view):
		b.view = view
	}
	b.service = s
	return b
}

// view gives what routes may know of a service; nil when there is none.
func (m *memory) view(id model.KongServiceID) *serviceView {
	if b := m.bound[id]; b != nil {
		return b.view
	}
	return nil
}

// unit is a part of the state that is translated by itself.
type unit struct {
	rank     string // of two units that have an entity of one id the one of the lesser rank makes it
	seen     uint64
	era      uint64
	version  uint64 // counts how often it was translated
	entities []entity.Entity
	problems []model.Problem
}

// bring brings a unit up to date: it is translated anew unless what it depends on is the same. It gives the new translation, or nil.
func (r *round) bring(u *unit, same bool, translate func(*translation)) (t *translation) {
	u.seen = r.now
	if !same || u.era != r.era {
		t = &translation{round: r}
		translate(t)
		u.era, u.problems = r.era, t.problems
		u.version++
		r.pool.exchange(u, t.entities)
	}
	r.told = append(r.told, u.problems...)
	return t
}

// forget drops what the translation that ends did not use.
func (m *memory) forget() {
	drop := func(u *unit) bool {
		if u.seen == m.now {
			return false
		}
		m.pool.exchange(u, nil)
		return true
	}
	maps.DeleteFunc(m.certificates, func(_ *model.KongCertificate, u *unit) bool { return drop(u) })
	maps.DeleteFunc(m.serverNames, func(_ model.KongServerName, u *unit) bool { return drop(u) })
	maps.DeleteFunc(m.authorities, func(_ *model.KongAuthority, u *unit) bool { return drop(u) })
	maps.DeleteFunc(m.bundles, func(_ string, s *bundle) bool { drop(&s.plugins.unit); return drop(&s.unit) })
	maps.DeleteFunc(m.services, func(_ string, s *serviceUnit) bool { drop(&s.plugins.unit); return drop(&s.unit) })
	maps.DeleteFunc(m.upstreams, func(_ string, u *upstreamUnit) bool { return drop(&u.unit) })
	maps.DeleteFunc(m.sources, func(_ *model.KongRoute, s *sourceMemory) bool { return s.seen != m.now })
	maps.DeleteFunc(m.spots, func(_ string, s *spot) bool { return s.seen != m.now })
}

// unitOf gives the unit of a key, an empty one if there is none.
func unitOf[K comparable](table map[K]*unit, key K, rank string) *unit {
	u := table[key]
	if u == nil {
		u = &unit{rank: rank}
		table[key] = u
	}
	return u
}
