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

// Encode gives the entries of a model. Certificates that the driver adds of itself (the self-signed one) are in extra.
func Encode(m *model.Model, extra ...*model.Certificate) Entries {
	entries := make(Entries, len(m.Hosts)+len(m.Backends)+len(m.Certificates)+len(m.ServerNames)+1)
	for _, h := range m.Hosts {
		entries[hostKey(h)] = encodeHost(h, m.Settings)
		for _, alias := range h.Aliases {
			entries["h:"+alias] = encodeAlias(h)
		}
	}
	for _, b := range m.Backends {
		entries["b:"+backendKey(b.ID)] = encodeBackend(b)
	}
	for _, list := range [][]*model.Certificate{m.Certificates, extra} {
		for _, c := range list {
			entries[certificateKey(c)] = encodeCertificate(c)
		}
	}
	for _, s := range m.ServerNames {
		if len(s.Certificates) > 0 {
			entries["s:"+s.Name] = encode(s.Certificates)
		}
	}
	entries[settingsKey] = encodeSettings(m, extra)
	return entries
}

const settingsKey = "g:settings"

func hostKey(h *model.Host) string               { return "h:" + h.Name }
func certificateKey(c *model.Certificate) string { return "c:" + string(c.ID) }

func encodeAlias(h *model.Host) string {
	return encode(hostEntry{Routes: []routeEntry{}, AliasOf: h.Name})
}

func encodeCertificate(c *model.Certificate) string {
	e := map[string]any{"chain": c.Chain, "key": c.Key.Reveal()}
	if c.OCSP.Text != "" {
		e["ocsp"], e["ocsp_until"] = c.OCSP.Text, c.OCSP.Until.Unix()
	}
	return encode(e)
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
		"tries": m.Settings.Route.Retries.Tries, "limit_status": m.Settings.LimitStatus, "connection_limit_status": m.Settings.ConnectionLimitStatus,
	}
	if m.Settings.TLS.RejectUnknown {
		s["reject_unknown"] = true
	}
	if key := m.Settings.TLS.TicketKey.Reveal(); key != "" && m.Settings.TLS.Tickets {
		s["ticket_key"] = key
	}
	if m.Settings.LimitKey != "" {
		s["limit_key"] = m.Settings.LimitKey
	}
	if b := m.Settings.Route.Balance; b != nil {
		s["balance"] = encodeBalance(b)
	}
	if e := newErrors(m.Settings.Route.Errors, nil); e != nil {
		s["errors"] = e
	}
	addEverywhere(s, &m.Settings)
	var patterns [][2]string
	for _, h := range m.Hosts {
		for _, p := range h.Patterns {
			patterns = append(patterns, [2]string{p, h.Name})
		}
		if h.TLS != nil && h.TLS.ClientCA != "" {
			s["client_certificates"] = true
		}
	}
	if patterns != nil {
		s["patterns"] = patterns
	}
	if !m.DefaultBackend.IsZero() {
		s["default"] = backendKey(m.DefaultBackend)
	}
	return encode(s)
}

// backendKey is "namespace/service/port". Ingresses may name Services that no API server would let exist, with any text: it is escaped, so that a key
// stays one word.
func backendKey(id model.BackendID) string {
	key := url.PathEscape(id.Namespace) + "/" + url.PathEscape(id.Service) + "/" + url.PathEscape(id.Port)
	if id.Virtual {
		key += "/virtual"
	}
	return key
}

// encode gives JSON; what it is given can always be encoded.
func encode(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return string(out)
}

var shapeMember = regexp.MustCompile(`"s[af]?":"([a-z0-9_]+)"`)

// Shapes gives the shapes that the routes of a state name. A tenant's text can't pass for one: its quotes are escaped.
func Shapes(entries Entries) conf.Shapes {
	shapes := conf.Shapes{}
	for key, value := range entries {
		if key[0] != 'h' {
			continue
		}
		for _, found := range shapeMember.FindAllStringSubmatch(value, -1) {
			if shape, ok := conf.ParseShape(found[1]); ok {
				shapes[shape] = conf.Parts{}
			}
		}
	}
	return shapes
}
