// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// Builder builds models and remembers the parts. It serves one goroutine at a time.
type Builder struct {
	options Options
	memory  memory
	inForce *model.Settings // that were confirmed last; nil for none

	// What was built last, and from what; nil before.
	snapshot source.Snapshot
	last     *Result
}

// NewBuilder gives a builder that remembers nothing yet.
func NewBuilder(options Options) *Builder {
	return &Builder{options: options, memory: newMemory()}
}

// Confirm notes settings that are in force: what stays when the data plane refuses others.
func (b *Builder) Confirm(settings model.Settings) { b.inForce = &settings }

// SettingsObject is the ConfigMap of the settings; zero for none.
func (b *Builder) SettingsObject() model.Ref {
	if b.options.ConfigMap.Name == "" {
		return model.Ref{}
	}
	return model.Ref{Kind: "ConfigMap", Namespace: b.options.ConfigMap.Namespace, Name: b.options.ConfigMap.Name}
}

// memory holds what was built last, under what it was built from. It never changes what a build gives, only what it costs: entries are used
// only when all that they depend on is the same. Entries that a build did not use are forgotten at its end.
type memory struct {
	now          uint64 // counts the builds
	settings     model.Settings
	refused      map[string]string // of the build before
	claims       map[source.Key]*claimMemory
	hosts        map[string]*hostMemory
	backends     map[model.BackendID]*backendMemory
	certificates map[source.Key]*certificateMemory
	listeners    [model.UDP + 1]listenerMemory // by transport

	used struct{ claims, hosts, backends, certificates int } // how many entries this build has used

	// What was sorted last.
	sortedHosts        []*hostMemory
	sortedBackends     []*backendMemory
	sortedCertificates []*model.Certificate
}

type claimMemory struct {
	*claims
	seen uint64
}

type hostMemory struct {
	name     string
	wildcard string // the name that covers it, if there can be one
	seen     uint64

	next        hostInputs // of this build
	nextSecrets []*certificate

	in       hostInputs
	result   *hostResult
	backends []*backendMemory // of result.uses

	secrets []*certificate
	tls     tlsResult

	counterpart *model.Host // with or without "www.", which redirects to this host; nil for none
}

type backendMemory struct {
	id    model.BackendID
	order string
	seen  uint64

	built  bool
	in     backendInputs
	own    serviceHealth
	result backendResult
	model  *model.Backend
}

type certificateMemory struct {
	secret *corev1.Secret
	*certificate
	seen uint64
}

func newMemory() memory {
	return memory{
		claims:       map[source.Key]*claimMemory{},
		hosts:        map[string]*hostMemory{},
		backends:     map[model.BackendID]*backendMemory{},
		certificates: map[source.Key]*certificateMemory{},
	}
}

func (m *memory) begin() {
	m.now++
	m.used.claims, m.used.hosts, m.used.backends, m.used.certificates = 0, 0, 0, 0
}

// use marks an entry as used by this build, and counts it once.
func (m *memory) use(seen *uint64, count *int) {
	if *seen != m.now {
		*seen = m.now
		*count++
	}
}

// forget drops what the build that ends did not use.
func (m *memory) forget() {
	forget(m.claims, m.used.claims, func(c *claimMemory) bool { return c.seen == m.now })
	forget(m.hosts, m.used.hosts, func(h *hostMemory) bool { return h.seen == m.now })
	forget(m.backends, m.used.backends, func(b *backendMemory) bool { return b.seen == m.now })
	forget(m.certificates, m.used.certificates, func(c *certificateMemory) bool { return c.seen == m.now })
}

// forget drops the entries that were not used; mostly there is none.
func forget[K comparable, V any](table map[K]V, used int, live func(V) bool) {
	if used < len(table) {
		maps.DeleteFunc(table, func(_ K, v V) bool { return !live(v) })
	}
}

// useSettings forgets what depends on settings when they are others than last time, and tells whether they are.
func (m *memory) useSettings(settings model.Settings) (changed bool) {
	if reflect.DeepEqual(m.settings, settings) {
		return false
	}
	m.settings = settings
	clear(m.claims)
	clear(m.hosts)
	m.sortedHosts = nil
	return true
}

// claimsOf reads the claims of an Ingress, unless it asks for the same as last time and the objects it names are the same.
func (m *memory) claimsOf(prefix string, ing *netv1.Ingress, snapshot *source.Snapshot) *claims {
	key := source.Key{Namespace: ing.Namespace, Name: ing.Name}
	old := m.claims[key]
	switch {
	case old == nil || old.ingress != ing && !sameClaims(old.ingress, ing), old.stale(snapshot), old.snippets && !maps.Equal(m.refused, snapshot.Refused):
		old = &claimMemory{claims: readClaims(prefix, ing, &m.settings, snapshot)}
		m.claims[key] = old
	case old.ingress != ing:
		old.ingress = ing
	}
	m.use(&old.seen, &m.used.claims)
	return old.claims
}

// host gives the memory of a host and whether this build asks for it for the first time.
func (m *memory) host(name string) (h *hostMemory, first bool) {
	h = m.hosts[name]
	if h == nil {
		h = &hostMemory{name: name, wildcard: model.Wildcard(name)}
		m.hosts[name] = h
	}
	first = h.seen != m.now
	if first {
		m.use(&h.seen, &m.used.hosts)
		h.next.mains, h.next.canaries = h.next.mains[:0], h.next.canaries[:0]
		h.next.aliases, h.next.patterns = nil, nil
	}
	return h, first
}

func (in hostInputs) clone() hostInputs {
	return hostInputs{mains: slices.Clone(in.mains), canaries: slices.Clone(in.canaries), secure: in.secure, aliases: in.aliases, patterns: in.patterns}
}

// certificateOf reads a Secret, unless it is the same as last time; nil when there is none.
func (m *memory) certificateOf(key source.Key, snapshot *source.Snapshot) *certificate {
	if key.Name == "" {
		return nil
	}
	secret := snapshot.Secrets[key]
	if secret == nil {
		return nil
	}
	old := m.certificates[key]
	if old == nil || old.secret != secret {
		fresh := readCertificate(secret)
		if old != nil && fresh.err == nil && old.err == nil && old.ID == fresh.ID {
			fresh = old.certificate
		}
		old = &certificateMemory{secret: secret, certificate: fresh}
		m.certificates[key] = old
	}
	m.use(&old.seen, &m.used.certificates)
	return old.certificate
}

func (m *memory) backend(id model.BackendID) *backendMemory {
	b := m.backends[id]
	if b == nil {
		b = &backendMemory{id: id, order: id.String()}
		m.backends[id] = b
	}
	return b
}

// refresh brings a backend up to date.
func (m *memory) refresh(b *backendMemory, in backendInputs, options *Options) {
	m.use(&b.seen, &m.used.backends)
	if m.settings.Upstream.IPv4Names {
		in.answers = onlyIPv4(in.answers)
	}
	if b.built && b.in.equal(in) {
		return
	}
	if !b.built || b.in.service != in.service {
		b.own = readServiceHealth(in.service)
	}
	b.built, b.in, b.result = true, in, buildBackend(b.id, in, options)
	fresh := &model.Backend{ID: b.id, Endpoints: b.result.endpoints, Draining: b.result.draining, Health: b.own.decide(b.id, &in), SlowStart: b.own.slowStart}
	if b.model == nil || !b.model.Equal(fresh) {
		b.model = fresh
	}
}

func (m *memory) sortHosts(used []*hostMemory) []*hostMemory {
	m.sortedHosts = resort(m.sortedHosts, used,
		func(h *hostMemory) bool { return h.seen == m.now && m.hosts[h.name] == h },
		func(a, b *hostMemory) int { return strings.Compare(a.name, b.name) })
	return m.sortedHosts
}

func (m *memory) sortBackends(used []*backendMemory) []*backendMemory {
	m.sortedBackends = resort(m.sortedBackends, used,
		func(b *backendMemory) bool { return b.seen == m.now },
		func(a, b *backendMemory) int { return strings.Compare(a.order, b.order) })
	return m.sortedBackends
}

// sortCertificates gives the values by ID.
func (m *memory) sortCertificates(used map[model.CertificateID]*model.Certificate) []*model.Certificate {
	same := len(used) == len(m.sortedCertificates)
	for _, c := range m.sortedCertificates {
		same = same && used[c.ID] == c
	}
	if !same {
		m.sortedCertificates = slices.SortedFunc(maps.Values(used), func(a, b *model.Certificate) int { return cmp.Compare(a.ID, b.ID) })
	}
	return m.sortedCertificates
}

// resort gives used, unique, in order. When the last result holds just the used ones, it is the answer.
func resort[T any](last, used []*T, live func(*T) bool, compare func(a, b *T) int) []*T {
	if len(last) == len(used) && !slices.ContainsFunc(last, func(t *T) bool { return !live(t) }) {
		return last
	}
	sorted := slices.Clone(used)
	slices.SortFunc(sorted, compare)
	return sorted
}
