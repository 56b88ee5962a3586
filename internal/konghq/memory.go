// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// Builder builds Model.Kong and remembers the parts. It serves one goroutine at a time.
type Builder struct {
	options *Options
	memory  *memory
	last    *built // nil before the first build
}

// NewBuilder gives a builder that remembers nothing yet.
func NewBuilder(options *Options) *Builder { return &Builder{options: options, memory: newMemory()} }

// Build adds to a result what a Kong Gateway needs to know of the snapshot that it was built from. Parts that did not change since the last call are
// the same pointers.
func (b *Builder) Build(snapshot *source.Snapshot, result *ingress.Result) {
	base := *result.Model
	if !b.endpointsChanged(snapshot, result) {
		b.last = &built{run: newRun(b.options, snapshot, b.memory)}
		b.last.run.build(result)
		b.memory.forget()
	}
	b.last.snapshot, b.last.base, b.last.accepted, b.last.result = *snapshot, base, result.Accepted, *result.Model
}

// memory holds the parts that were built last. It never changes what a build gives, only what it costs: a part is used again only while all that was
// looked up for it is the same, see [look]. Parts that a build did not use are forgotten at its end.
type memory struct {
	now          uint64 // counts the builds
	surroundings surroundings

	hosts        map[string]*hostPaths
	backends     map[model.BackendID]*model.Backend // of the model of this build
	listed       []*model.Backend                   // the same, in order
	ingresses    map[*netv1.Ingress]*memo[*reading]
	streams      map[metav1.Object]*memo[*reading]
	services     map[model.KongServiceID]*serviceMemory
	notes        map[*corev1.Service]*memo[*model.KongService]
	upstreams    map[metav1.Object]*memo[*model.KongUpstream]
	plugins      map[*kongapi.KongPlugin]*memo[*model.KongPlugin]
	certificates map[source.Key]*memo[*secretCertificate]
	authorities  map[metav1.Object]*memo[*authorityResult]
	crowd        memo[*crowd]

	sortedServices []*serviceMemory
}

// serviceMemory is a service that a route names.
type serviceMemory struct {
	memo[*model.KongService]
	id    model.KongServiceID
	order string
	named uint64 // the build that named it last
	use   use
}

func newMemory() *memory {
	return &memory{
		hosts: map[string]*hostPaths{}, backends: map[model.BackendID]*model.Backend{}, ingresses: map[*netv1.Ingress]*memo[*reading]{}, streams: map[metav1.Object]*memo[*reading]{},
		services: map[model.KongServiceID]*serviceMemory{}, notes: map[*corev1.Service]*memo[*model.KongService]{},
		upstreams: map[metav1.Object]*memo[*model.KongUpstream]{}, plugins: map[*kongapi.KongPlugin]*memo[*model.KongPlugin]{},
		certificates: map[source.Key]*memo[*secretCertificate]{}, authorities: map[metav1.Object]*memo[*authorityResult]{},
	}
}

// surroundings are what every part may depend on and hardly ever changes.
type surroundings struct {
	classes      map[string]kongapi.ClassParameters
	classless    bool
	redirectCode int
}

func (a *surroundings) equal(b *surroundings) bool {
	return a.classless == b.classless && a.redirectCode == b.redirectCode && maps.Equal(a.classes, b.classes)
}

// surround forgets everything when the surroundings are others than last time.
func (m *memory) surround(s surroundings) {
	if m.surroundings.equal(&s) {
		return
	}
	now := m.now
	*m = *newMemory()
	m.now, m.surroundings = now, s
}

// list notes the backends of a model. Most are those of the model before, in the same places.
func (m *memory) list(backends []*model.Backend) {
	moved := len(backends) != len(m.listed)
	for i := 0; i < len(backends) && !moved; i++ {
		if b := backends[i]; b != m.listed[i] {
			moved = b.ID != m.listed[i].ID
			m.backends[b.ID] = b
		}
	}
	if m.listed = backends; !moved {
		return
	}
	clear(m.backends)
	for _, b := range backends {
		m.backends[b.ID] = b
	}
}

// forget drops what the build that ends did not use.
func (m *memory) forget() {
	forget(m, m.ingresses)
	forget(m, m.streams)
	forget(m, m.notes)
	forget(m, m.upstreams)
	forget(m, m.plugins)
	forget(m, m.certificates)
	forget(m, m.authorities)
	maps.DeleteFunc(m.hosts, func(_ string, h *hostPaths) bool { return h.seen != m.now })
	maps.DeleteFunc(m.services, func(_ model.KongServiceID, s *serviceMemory) bool { return s.named != m.now })
}

func forget[K comparable, T any](m *memory, table map[K]*memo[T]) {
	maps.DeleteFunc(table, func(_ K, p *memo[T]) bool { return p.seen != m.now })
}

// memo is what was built for one thing, with the Problems found and what was looked up on the way.
type memo[T any] struct {
	seen     uint64
	built    bool
	result   T
	problems []model.Problem
	lookups  []lookup
	// endpoints are those of the look-ups whose answers change with endpoints.
	endpoints []lookup
}

// lookup repeats a question to the snapshot and tells whether the answer is the same.
type lookup func(*run) bool

// memoOf gives the memo of a key, an empty one if there is none.
func memoOf[K comparable, T any](table map[K]*memo[T], key K) *memo[T] {
	p := table[key]
	if p == nil {
		p = &memo[T]{}
		table[key] = p
	}
	return p
}

// get gives the result of a part. It is built unless every look-up that was made for it gives what it gave: then building would come to the same,
// as it depends on nothing else.
func (p *memo[T]) get(r *run, build func() T) T {
	if p.seen == r.memory.now {
		return p.result
	}
	p.seen = r.memory.now
	problems, lookups, endpoints := r.problems, r.lookups, r.endpoints
	if r.lookups = nil; !p.stands(r) {
		r.problems, r.lookups, r.endpoints = nil, nil, nil
		p.result, p.built = build(), true
		p.problems, p.lookups, p.endpoints = r.problems, r.lookups, r.endpoints
	}
	r.problems, r.lookups, r.endpoints = problems, lookups, endpoints
	r.told = append(r.told, p.problems...)
	return p.result
}

// stands repeats the look-ups in their order, so that none is made that building would not make.
func (p *memo[T]) stands(r *run) bool {
	return p.built && !slices.ContainsFunc(p.lookups, func(same lookup) bool { return !same(r) })
}

// look asks a question and notes it for the part that is being built. What is asked on the way to the answer need not be noted: it is asked again.
func look[T comparable](r *run, ask func(*run) T) T {
	return lookWith(r, ask, func(a, b T) bool { return a == b })
}

// lookAll is look for lists.
func lookAll[T comparable](r *run, ask func(*run) []T) []T {
	return lookWith(r, ask, slices.Equal[[]T])
}

func lookWith[T any](r *run, ask func(*run) T, equal func(a, b T) bool) T {
	lookups := r.lookups
	answer := ask(r)
	r.lookups = append(lookups, func(r *run) bool { return equal(ask(r), answer) })
	return answer
}

// sortServices gives what routes name in this build, sorted by id.
func (m *memory) sortServices(named []*serviceMemory) []*serviceMemory {
	stale := func(s *serviceMemory) bool { return s.named != m.now }
	if len(named) != len(m.sortedServices) || slices.ContainsFunc(m.sortedServices, stale) {
		m.sortedServices = slices.SortedFunc(slices.Values(named), func(a, b *serviceMemory) int { return strings.Compare(a.order, b.order) })
	}
	return m.sortedServices
}
