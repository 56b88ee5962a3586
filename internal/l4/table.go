// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fairway-ingress/fairway/internal/model"
)

// table says where server names lead. It never changes, but for the positions of its backends.
type table struct {
	names map[string]*backend // nil values: connections are closed
	// client is who is believed about the client's address, PROXY headers or nobody.
	client model.Client
}

// backend is where connections of one host go, in turns.
type backend struct {
	endpoints, next []model.Endpoint // next is for when all endpoints failed
	position        atomic.Uint64
}

// newTable reads a model. Work is proportional to its hosts and, for those that pass through, their endpoints.
func newTable(m *model.Model) *table {
	t := &table{names: map[string]*backend{}, client: m.Settings.Client}
	backends := map[model.BackendID]*backend{}
	for _, host := range m.Hosts {
		if host.Passthrough == nil {
			continue
		}
		id := host.Passthrough.Backend
		b := backends[id]
		if b == nil && !id.IsZero() {
			if found := m.Backend(id); found != nil {
				b = &backend{}
				b.endpoints, b.next = found.Usable()
			}
			backends[id] = b
		}
		t.names[host.Name] = b
		for _, alias := range host.Aliases {
			t.names[alias] = b
		}
	}
	return t
}

// find gives the backend of a server name, by the name itself, else by the wildcard for its first label. It is nil when connections are closed; ok
// says whether they pass through at all.
func (t *table) find(name string) (b *backend, ok bool) {
	if b, ok = t.names[name]; ok {
		return b, true
	}
	if _, rest, found := strings.Cut(name, "."); found {
		b, ok = t.names["*."+rest]
	}
	return b, ok
}

// order gives the endpoints in the order in which one connection tries them.
func (b *backend) order() []model.Endpoint {
	n := uint64(len(b.endpoints))
	if n == 0 {
		return nil
	}
	from := b.position.Add(1) % n
	return slices.Concat(b.endpoints[from:], b.endpoints[:from], b.next)
}

// trusts tells whether the word of a sender counts.
func (t *table) trusts(address netip.Addr) bool {
	for _, network := range t.client.Trusted {
		if network.Contains(address.Unmap()) {
			return true
		}
	}
	return false
}
