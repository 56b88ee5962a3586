// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
)

// Entries is a state: value by key.
type Entries map[string]string

// Encoder makes entries. It remembers what it made of hosts, backends and certificates by their pointers, which a model
// promises not to change, so that encoding the next model costs little more than what is new in it. Not safe for concurrent use.
type Encoder struct {
	shape        conf.Shape
	hosts        map[*model.Host]string
	backends     map[*model.Backend]string
	certificates map[*model.Certificate]string
}

// NewEncoder gives an encoder that remembers nothing.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode gives the entries of a model. Certificates that the driver adds of itself (the self-signed one) are in extra.
func (e *Encoder) Encode(m *model.Model, extra ...*model.Certificate) Entries {
	shape := conf.DefaultShape(m.Settings)
	if shape != e.shape {
		e.hosts = nil // routes leave out what the default shape says
		e.shape = shape
	}
	entries := make(Entries, len(m.Hosts)+len(m.Backends)+len(m.Certificates)+len(m.ServerNames)+1)
	hosts := make(map[*model.Host]string, len(m.Hosts))
	for _, h := range m.Hosts {
		value := recall(e.hosts, h, func() string { return encodeHost(h, m.Settings) })
		hosts[h] = value
		entries["h:"+h.Name] = value
	}
	backends := make(map[*model.Backend]string, len(m.Backends))
	for _, b := range m.Backends {
		value := recall(e.backends, b, func() string { return encodeBackend(b) })
		backends[b] = value
		entries["b:"+backendKey(b.ID)] = value
	}
	certificates := make(map[*model.Certificate]string, len(m.Certificates))
	for _, list := range [][]*model.Certificate{m.Certificates, extra} {
		for _, c := range list {
			value := recall(e.certificates, c, func() string {
				return encode(map[string]string{"chain": c.Chain, "key": c.Key.Reveal()})
			})
			certificates[c] = value
			entries["c:"+string(c.ID)] = value
		}
	}
	for _, s := range m.ServerNames {
		if len(s.Certificates) > 0 {
			entries["s:"+s.Name] = encode(s.Certificates)
		}
	}
	entries["g:settings"] = encodeSettings(m, extra)
	e.hosts, e.backends, e.certificates = hosts, backends, certificates
	return entries
}

func recall[K comparable](known map[K]string, key K, make func() string) string {
	if value, found := known[key]; found {
		return value
	}
	return make()
}

func encodeSettings(m *model.Model, extra []*model.Certificate) string {
	ids := m.DefaultCertificates
	if len(ids) == 0 {
		for _, c := range extra {
			ids = append(ids, c.ID)
		}
	}
	s := map[string]any{
		"redirect_code": m.Settings.HTTPSRedirectCode, "log_default": m.Settings.DefaultBackendLog, "certificates": ids,
	}
	if !m.DefaultBackend.IsZero() {
		s["default"] = backendKey(m.DefaultBackend)
	}
	return encode(s)
}

// backendKey is "namespace/service/port". Ingresses may name Services that no API server would let exist, with any text: it is escaped, so that a key
// stays one word.
func backendKey(id model.BackendID) string {
	return url.PathEscape(id.Namespace) + "/" + url.PathEscape(id.Service) + "/" + url.PathEscape(id.Port)
}

func encodeBackend(b *model.Backend) string {
	peers := make([][2]any, len(b.Endpoints))
	for i, e := range b.Endpoints {
		address := e.Addr().String()
		if e.Addr().Is6() {
			address = "[" + address + "]"
		}
		peers[i] = [2]any{address, e.Port()}
	}
	return encode(map[string]any{"n": b.ID.LogName(), "e": peers})
}

// encode gives JSON; what it is given can always be encoded.
func encode(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return string(out)
}

var shapeMember = regexp.MustCompile(`"s":"([a-z0-9_]+)"`)

// Shapes gives the shapes that the routes of a state name. A tenant's text can't pass for one: its quotes are escaped.
func Shapes(entries Entries) conf.Shapes {
	shapes := conf.Shapes{}
	for key, value := range entries {
		if key[0] != 'h' {
			continue
		}
		for _, found := range shapeMember.FindAllStringSubmatch(value, -1) {
			if shape, ok := conf.ParseShape(found[1]); ok {
				shapes[shape] = struct{}{}
			}
		}
	}
	return shapes
}
