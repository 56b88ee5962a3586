// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Options are what an admin decides of the translation.
type Options struct {
	// OpenWithoutPlugin lets routes serve whose plugins are missing or broken, also those that control access.
	OpenWithoutPlugin bool
	// Workspace is that of Kong Enterprise; empty for the default one.
	Workspace string
}

// Translator translates models and remembers the parts, for each gateway that is not like another. It serves one goroutine at a time.
type Translator struct {
	options  Options
	memories []*memory // what was used last stands first
}

// New makes a translator that remembers nothing yet.
func New(options Options) *Translator { return &Translator{options: options} }

// Translate gives the state that a gateway is to hold for a model. It is the same pointer as before when nothing has changed, and what has not
// changed in it is. The Problems are sorted.
func (tr *Translator) Translate(m *model.Model, gateway *entity.Gateway) (*entity.State, []model.Problem) {
	r := &round{memory: tr.memoryFor(gateway), options: tr.options, kong: m.Kong}
	if r.kong == nil {
		r.kong = &model.Kong{}
	}
	return r.translate(&m.Settings)
}

// mostMemories bounds the gateways that are remembered.
const mostMemories = 4

func (tr *Translator) memoryFor(gateway *entity.Gateway) *memory {
	i := slices.IndexFunc(tr.memories, func(m *memory) bool { return reflect.DeepEqual(m.gateway, gateway) })
	var found *memory
	if i < 0 {
		found = newMemory(gateway)
	} else {
		found = tr.memories[i]
		tr.memories = slices.Delete(tr.memories, i, i+1)
	}
	tr.memories = slices.Insert(tr.memories, 0, found)
	tr.memories = tr.memories[:min(len(tr.memories), mostMemories)]
	return found
}

// round is one call of Translate.
type round struct {
	*memory
	options Options
	kong    *model.Kong
	told    []model.Problem
	closed  string // why all routes are; empty for those that have no reason of their own

	current  []*bundle
	served   []*serviceUnit
	stood    []*upstreamUnit
	standing map[*model.KongPlugin]*standing
}

func (r *round) translate(settings *model.Settings) (*entity.State, []model.Problem) {
	r.now++
	checked := &translation{round: r}
	checked.checkSettings(settings)
	if problems, ok := r.retarget(checked.problems); ok {
		return r.pool.settle(), problems
	}
	r.told = checked.problems
	r.surround(surroundings{closed: r.closed, globals: r.kong.GlobalPlugins, authorities: r.kong.Authorities})
	r.bind(r.kong.Services)
	r.addCertificates()
	r.addPeople()
	r.addBundles()
	r.tellWildcards()
	r.addServices()
	r.addPlugins()
	r.forget()
	r.last = &translated{kong: *r.kong, checked: checked.problems, upstreams: r.stood, problems: slices.Clip(model.SortProblems(r.told))}
	return r.pool.settle(), slices.Clone(r.last.problems)
}

// translation makes the entities of one unit.
type translation struct {
	*round
	entities []entity.Entity
	problems []model.Problem

	names   map[nameKey]string
	present map[entity.Place]bool
	asked   []asked
	routes  []*route
	needs   []*need
	uses    []pluginUse
	extra   []extraPlugin // of Fairway's own policies
}

func (t *translation) problem(object model.Ref, field, reason, format string, args ...any) {
	t.problems = append(t.problems, model.Problem{Object: object, Field: field, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// add adds an entity, unless there is one of its id.
func (t *translation) add(e entity.Entity) {
	place := entity.PlaceOf(e)
	if t.present[place] {
		return
	}
	if t.present == nil {
		t.present = map[entity.Place]bool{}
	}
	t.present[place] = true
	t.entities = append(t.entities, e)
}

// service gives what a route may know of a service; nil when there is none.
func (t *translation) service(id model.KongServiceID) *serviceView {
	v := t.view(id)
	t.asked = append(t.asked, asked{id, v})
	return v
}

// addCertificates adds the certificates of server names and services, and the CA certificates.
func (r *round) addCertificates() {
	for _, c := range r.kong.Certificates {
		u := unitOf(r.certificates, c, "certificate/"+c.Origin.String())
		r.bring(u, u.version > 0, func(t *translation) {
			t.add(&entity.Certificate{Meta: t.certificateMeta(c), Cert: c.Chain, Key: c.Key})
		})
	}
	for _, n := range r.kong.ServerNames {
		u := unitOf(r.serverNames, n, "sni/"+n.Name)
		r.bring(u, u.version > 0, func(t *translation) {
			t.add(&entity.SNI{
				Meta: t.meta(entity.SNIs, n.Name, n.Secret, "", nil), Name: n.Name,
				Certificate: &entity.Reference{ID: t.certificateMeta(n.Certificate).ID},
			})
		})
	}
	for _, a := range r.kong.Authorities {
		u := unitOf(r.authorities, a, "authority/"+a.ID)
		r.bring(u, u.version > 0, func(t *translation) {
			e := &entity.CACertificate{Meta: t.meta(entity.CACertificates, a.ID, a.Origin, "", nil), Cert: a.Cert}
			e.ID = a.ID
			t.add(e)
		})
	}
}

// certificateMeta is what the entity of a certificate has in common with others.
func (t *translation) certificateMeta(c *model.KongCertificate) entity.Meta {
	m := t.meta(entity.Certificates, c.Origin.String(), c.Origin, "", nil)
	if isUUID(c.Origin.UID) {
		m.ID = c.Origin.UID
	}
	return m
}

// people are consumers and their groups.
type people struct {
	unit
	consumers []*model.KongConsumer
	groups    []*model.KongConsumerGroup
	uses      []pluginUse
	plugins   pluginUnit
}

// addPeople adds consumers with their credentials, and groups.
func (r *round) addPeople() {
	p := &r.people
	same := slices.Equal(p.consumers, r.kong.Consumers) && slices.Equal(p.groups, r.kong.Groups)
	if t := r.bring(&p.unit, same, (*translation).addConsumers); t != nil {
		p.consumers, p.groups, p.uses = r.kong.Consumers, r.kong.Groups, t.uses
	}
}

func ptr[T any](v T) *T { return &v }

func sortedCopy(list []string) []string {
	c := slices.Clone(list)
	slices.Sort(c)
	return slices.Compact(c)
}
