// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"fmt"
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

// Translate gives the state that a gateway is to hold for a model. The Problems are sorted.
func Translate(m *model.Model, gateway *entity.Gateway, options Options) (*entity.State, []model.Problem) {
	t := &translation{
		gateway: gateway, options: options, kong: m.Kong, names: map[nameKey]string{}, present: map[nameKey]bool{},
		authorityIDs: map[string]string{}, services: map[string]*entity.Service{}, targets: map[string]bool{},
		upstreams: map[string]*entity.Upstream{}, certificates: map[*model.KongCertificate]*entity.Certificate{},
		bound: map[model.KongServiceID]*model.KongService{},
	}
	if t.kong == nil {
		t.kong = &model.Kong{}
	}
	for _, s := range t.kong.Services {
		t.bound[s.ID] = s
	}
	t.checkSettings(&m.Settings)
	t.addCertificates()
	t.addConsumers()
	t.addRoutes()
	t.addPlugins()
	return entity.NewState(t.entities), model.SortProblems(t.problems)
}

// translation is one call of Translate.
type translation struct {
	gateway  *entity.Gateway
	options  Options
	kong     *model.Kong
	entities []entity.Entity
	problems []model.Problem

	names        map[nameKey]string
	present      map[nameKey]bool  // by kind and id
	authorityIDs map[string]string // of CA certificates, by digest
	bound        map[model.KongServiceID]*model.KongService
	services     map[string]*entity.Service
	upstreams    map[string]*entity.Upstream
	targets      map[string]bool
	certificates map[*model.KongCertificate]*entity.Certificate
	routes       []*route
	closed       string // why all routes are; empty for those that have no reason of their own
	consumers    []*consumer
	groups       []*group
	uses         []pluginUse
	extra        []extraPlugin // of Fairway's own policies
}

func (t *translation) problem(object model.Ref, field, reason, format string, args ...any) {
	t.problems = append(t.problems, model.Problem{Object: object, Field: field, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// add adds an entity, unless there is one of its id.
func (t *translation) add(e entity.Entity) {
	key := nameKey{e.Kind(), e.Common().ID}
	if t.present[key] {
		return
	}
	t.present[key] = true
	t.entities = append(t.entities, e)
}

// addCertificates adds the certificates of server names and services, and the CA certificates.
func (t *translation) addCertificates() {
	for _, c := range t.kong.Certificates {
		e := &entity.Certificate{Meta: t.meta(entity.Certificates, c.Origin.String(), c.Origin, "", nil), Cert: c.Chain, Key: c.Key}
		if isUUID(c.Origin.UID) {
			e.ID = c.Origin.UID
		}
		t.certificates[c] = e
		t.add(e)
	}
	for _, n := range t.kong.ServerNames {
		c := n.Certificate
		t.add(&entity.SNI{Meta: t.meta(entity.SNIs, n.Name, c.Origin, "", nil), Name: n.Name, Certificate: entity.RefTo(t.certificates[c])})
	}
	for _, a := range t.kong.Authorities {
		e := &entity.CACertificate{Meta: t.meta(entity.CACertificates, a.ID, a.Origin, "", nil), Cert: a.Cert}
		e.ID = a.ID
		t.authorityIDs[e.Digest()] = e.ID
		t.add(e)
	}
}

func ptr[T any](v T) *T { return &v }

func sortedCopy(list []string) []string {
	c := slices.Clone(list)
	slices.Sort(c)
	return slices.Compact(c)
}
