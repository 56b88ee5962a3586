// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"slices"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// Most changes of a cluster are endpoints that come and go. Then everything but the targets of services is as it was, and none of it has to be
// looked at.

// built is what was built last, and from what.
type built struct {
	run      *run // with the tables that were made for it
	snapshot source.Snapshot
	base     model.Model // what package ingress had built
	accepted []*netv1.Ingress
	result   model.Model // with what was added here
}

// endpointsChanged adds to a result as build does, if it differs from the last one in endpoints alone. It tells false when it differs in more, or
// when the difference makes or ends a Problem.
func (b *Builder) endpointsChanged(snapshot *source.Snapshot, result *ingress.Result) bool {
	l := b.last
	if l == nil || !l.sameButEndpoints(snapshot, result) {
		return false
	}
	r, kong := l.run, *l.result.Kong
	r.snapshot = snapshot
	b.memory.list(result.Model.Backends)
	kong.Services = slices.Clone(kong.Services)
	for i, s := range b.memory.sortedServices {
		if !slices.ContainsFunc(s.endpoints, func(same lookup) bool { return !same(r) }) {
			continue
		}
		before := s.problems
		s.seen = 0 // everything else that it depends on has been seen
		kong.Services[i] = r.service(s)
		if !slices.Equal(before, s.problems) {
			return false
		}
	}
	result.Model.Kong, result.Model.Problems = &kong, l.result.Problems
	return true
}

// sameButEndpoints tells whether all that matters is the very same, but for endpoints and what package ingress has made of those.
func (l *built) sameButEndpoints(snapshot *source.Snapshot, result *ingress.Result) bool {
	a, m := &l.snapshot, result.Model
	return model.SameList(a.Ingresses, snapshot.Ingresses) && model.SameTable(a.IngressClasses, snapshot.IngressClasses) &&
		model.SameTable(a.Services, snapshot.Services) && model.SameTable(a.Secrets, snapshot.Secrets) &&
		model.SameTable(a.ConfigMaps, snapshot.ConfigMaps) && a.Kong == snapshot.Kong &&
		model.SameList(l.accepted, result.Accepted) && model.SameList(l.base.Hosts, m.Hosts) && model.SameList(l.base.ServerNames, m.ServerNames) &&
		model.SameList(l.base.Problems, m.Problems) && model.SameList(l.base.Certificates, m.Certificates) &&
		slices.Equal(l.base.DefaultCertificates, m.DefaultCertificates) && l.base.SettingsID == m.SettingsID
}
