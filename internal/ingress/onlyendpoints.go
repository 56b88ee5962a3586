// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// Most changes of a cluster are endpoints that come and go. Then everything but the backends is as it was, and none of it has to be looked at.

// endpointsChanged gives the result of a snapshot that differs from the last one in endpoints and in addresses of names alone. It gives nil when it
// differs in more, or when the difference makes or ends a Problem.
func (b *Builder) endpointsChanged(snapshot *source.Snapshot) *Result {
	if b.last == nil || !sameButEndpoints(&b.snapshot, snapshot) {
		return nil
	}
	for i := range b.memory.listeners {
		for _, parts := range b.memory.listeners[i].entries {
			if backend := b.memory.backends[parts.backend]; backend == nil || !backend.in.equal(b.inputs(backend, snapshot)) {
				return nil
			}
		}
	}
	var changed map[int]*model.Backend // by place in the model
	for i, backend := range b.memory.sortedBackends {
		in := b.inputs(backend, snapshot)
		if backend.in.equal(in) {
			continue
		}
		before := backend.result
		b.memory.refresh(backend, in, &b.options)
		if !before.alike(&backend.result) {
			return nil
		}
		if changed == nil {
			changed = map[int]*model.Backend{}
		}
		changed[i] = backend.model
	}
	return b.withBackends(changed)
}

// remember keeps a copy of a result, as who gets it may add to it.
func (b *Builder) remember(snapshot *source.Snapshot, result *Result) {
	last, m := *result, *result.Model
	last.Model = &m
	b.snapshot, b.last = *snapshot, &last
}

// inputs gives what a backend depends on now, of Ingresses that are the same.
func (b *Builder) inputs(backend *backendMemory, snapshot *source.Snapshot) backendInputs {
	in := readBackendInputs(backend.id, snapshot)
	in.sticky, in.health = backend.in.sticky, backend.in.health
	if b.memory.settings.Upstream.IPv4Names {
		in.answers = onlyIPv4(in.answers)
	}
	return in
}

// withBackends gives the last result with some backends replaced.
func (b *Builder) withBackends(changed map[int]*model.Backend) *Result {
	result, m := *b.last, *b.last.Model
	if len(changed) > 0 {
		m.Backends = slices.Clone(m.Backends)
		for i, backend := range changed {
			m.Backends[i] = backend
		}
	}
	result.Model = &m
	return &result
}

// alike tells whether two results of a backend make no difference but in their endpoints.
func (r *backendResult) alike(s *backendResult) bool {
	return r.fault == s.fault && slices.Equal(r.problems, s.problems) && r.lookup == s.lookup && (len(r.endpoints) == 0) == (len(s.endpoints) == 0)
}

// sameButEndpoints tells whether all tables but those of endpoints and addresses are the very same. Settings and snippets that were refused are for
// a build of everything. Snapshots share the tables that did not change, and never modify one that was given out.
func sameButEndpoints(a, b *source.Snapshot) bool {
	return model.SameList(a.Ingresses, b.Ingresses) && model.SameTable(a.IngressClasses, b.IngressClasses) && model.SameTable(a.Services, b.Services) &&
		model.SameTable(a.Secrets, b.Secrets) && model.SameTable(a.ConfigMaps, b.ConfigMaps) && model.SameTable(a.Namespaces, b.Namespaces) &&
		model.SameTable(a.Nodes, b.Nodes) && len(a.Refused) == 0 && len(b.Refused) == 0
}
