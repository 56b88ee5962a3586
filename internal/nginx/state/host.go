// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
)

type hostEntry struct {
	Routes   []routeEntry   `json:"r"`
	Exact    map[string]int `json:"x,omitempty"`
	Slash    map[string]int `json:"l,omitempty"`
	Prefix   map[string]int `json:"p,omitempty"`
	Longest  int            `json:"max,omitempty"`
	Patterns [][2]any       `json:"re,omitempty"`
}

type routeEntry struct {
	Backend       string        `json:"b,omitempty"`
	LogName       string        `json:"u,omitempty"`
	Shape         string        `json:"s,omitempty"`
	BodyLimit     int64         `json:"m"`
	Timeouts      string        `json:"o,omitempty"`
	Host          string        `json:"v,omitempty"`
	Pattern       string        `json:"w,omitempty"`
	Target        string        `json:"t,omitempty"`
	Closed        int           `json:"z,omitempty"`
	HTTPSRedirect int           `json:"q,omitempty"`
	KeepSlash     int           `json:"k,omitempty"`
	Canaries      []canaryEntry `json:"c,omitempty"`
	Identity      [5]string     `json:"i"`
}

type canaryEntry struct {
	Backend       string  `json:"b"`
	Header        string  `json:"h,omitempty"`
	HeaderValue   string  `json:"hv,omitempty"`
	HeaderPattern string  `json:"hp,omitempty"`
	Cookie        string  `json:"k,omitempty"`
	Share         float64 `json:"w,omitempty"`
}

func encodeHost(h *model.Host, settings model.Settings) string {
	var entry hostEntry
	places := map[*model.Route]int{}
	for _, m := range h.Matches {
		place, known := places[m.Route]
		if !known {
			entry.Routes = append(entry.Routes, newRoute(m.Route, settings))
			place = len(entry.Routes)
			places[m.Route] = place
		}
		entry.add(m, place)
	}
	if entry.Routes == nil {
		entry.Routes = []routeEntry{}
	}
	return encode(entry)
}

func (h *hostEntry) add(m model.Match, place int) {
	put := func(table *map[string]int) {
		if *table == nil {
			*table = map[string]int{}
		}
		if _, taken := (*table)[m.Path]; !taken { // the first in order wins
			(*table)[m.Path] = place
		}
	}
	switch {
	case m.Kind == model.Regex:
		h.Patterns = append(h.Patterns, [2]any{"^(?:" + m.Path + ")", place})
	case m.Slash:
		put(&h.Slash)
	case m.Kind == model.Exact:
		put(&h.Exact)
	default:
		put(&h.Prefix)
		h.Longest = max(h.Longest, len(m.Path))
	}
}

func newRoute(r *model.Route, settings model.Settings) routeEntry {
	entry := routeEntry{
		BodyLimit: r.Policy.BodyLimit,
		Host:      r.Policy.Host,
		Closed:    bit(r.Closed != ""), HTTPSRedirect: bit(r.Policy.HTTPSRedirect), KeepSlash: bit(r.Policy.KeepTrailingSlash),
		Identity: [5]string{r.Owner.Namespace, r.Owner.Name, r.Backend.Service, r.Backend.Port, r.Path},
	}
	if !r.Backend.IsZero() {
		entry.Backend, entry.LogName = backendKey(r.Backend), r.Backend.LogName()
	}
	if shape := conf.ShapeOf(r); shape != conf.DefaultShape(settings) {
		entry.Shape = shape.Name()
	}
	if t := r.Policy.Timeouts; t != settings.Route.Timeouts {
		entry.Timeouts = fmt.Sprintf("%g %g %g", t.Connect.Seconds(), t.Send.Seconds(), t.Read.Seconds())
	}
	if w := r.Policy.Rewrite; w != nil {
		entry.Pattern, entry.Target = w.Pattern, w.Target
	}
	for _, c := range r.Canaries {
		entry.Canaries = append(entry.Canaries, newCanary(c))
	}
	return entry
}

func newCanary(c model.Canary) canaryEntry {
	entry := canaryEntry{
		Backend: backendKey(c.Backend),
		Header:  c.Header, HeaderValue: c.HeaderValue, HeaderPattern: c.HeaderPattern, Cookie: c.Cookie,
	}
	if c.WeightTotal > 0 {
		entry.Share = float64(c.Weight) / float64(c.WeightTotal)
	}
	return entry
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
