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
	Policies []policyEntry  `json:"policies,omitempty"`
	AppRoot  string         `json:"app_root,omitempty"`
	Redirect string         `json:"redirect,omitempty"`
	Closed   int            `json:"closed,omitempty"`
	TLS      *tlsEntry      `json:"tls,omitempty"`
	Aliases  []string       `json:"aliases,omitempty"`
	// AliasOf makes all else of the entry that of another host.
	AliasOf string `json:"alias_of,omitempty"`
}

type routeEntry struct {
	Backend       string        `json:"b,omitempty"`
	LogName       string        `json:"u,omitempty"`
	Shape         string        `json:"s,omitempty"`
	SecureShape   string        `json:"sa,omitempty"`
	FallbackShape string        `json:"sf,omitempty"`
	BodyLimit     int64         `json:"m"`
	Options       string        `json:"o,omitempty"`
	Host          string        `json:"v,omitempty"`
	Pattern       string        `json:"w,omitempty"`
	Target        string        `json:"t,omitempty"`
	Closed        int           `json:"z,omitempty"`
	HTTPSRedirect int           `json:"q,omitempty"`
	KeepSlash     int           `json:"k,omitempty"`
	Canaries      []canaryEntry `json:"c,omitempty"`
	Policy        int           `json:"p,omitempty"`
	Identity      [5]string     `json:"i"`
}

type canaryEntry struct {
	Backend       string        `json:"b"`
	Header        string        `json:"h,omitempty"`
	HeaderValue   string        `json:"hv,omitempty"`
	HeaderPattern string        `json:"hp,omitempty"`
	Cookie        string        `json:"k,omitempty"`
	Share         float64       `json:"w,omitempty"`
	Options       string        `json:"o,omitempty"`
	Balance       *balanceEntry `json:"balance,omitempty"`
}

func encodeHost(h *model.Host, settings model.Settings) string {
	entry := hostEntry{AppRoot: h.AppRoot, Redirect: h.RedirectTo, Closed: bit(h.Closed != ""), TLS: newTLS(h.TLS), Aliases: h.Aliases}
	places := map[*model.Route]int{}
	for _, m := range h.Matches {
		place, known := places[m.Route]
		if !known {
			entry.Routes = append(entry.Routes, entry.newRoute(h, m.Route, &settings))
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

func (h *hostEntry) newRoute(host *model.Host, r *model.Route, settings *model.Settings) routeEntry {
	entry := routeEntry{
		BodyLimit: r.Policy.BodyLimit,
		Host:      fillRoute(r.Policy.Host, r),
		Closed:    bit(r.Closed != ""), HTTPSRedirect: bit(r.Policy.HTTPSRedirect), KeepSlash: bit(r.Policy.KeepTrailingSlash),
		Identity: [5]string{r.Owner.Namespace, r.Owner.Name, r.Backend.Service, r.Backend.Port, r.Path},
	}
	if !r.Backend.IsZero() {
		entry.Backend, entry.LogName = backendKey(r.Backend), r.Backend.LogName()
	}
	plain, secure := conf.ShapesOf(host, r, settings)
	if plain != conf.DefaultShape(*settings) {
		entry.Shape = plain.Name()
	}
	if secure != plain {
		entry.SecureShape = secure.Name()
	}
	if !r.Policy.Fallback.IsZero() {
		entry.FallbackShape = conf.FallbackShape(host, r, settings).Name()
	}
	entry.Options = options(r.Policy.Timeouts, r.Policy.Retries.Tries, balanceID(newBalance(r.Policy.Balance, settings)), settings)
	if w := r.Policy.Rewrite; w != nil {
		entry.Pattern, entry.Target = w.Pattern, w.Target
	}
	for _, c := range r.Canaries {
		entry.Canaries = append(entry.Canaries, newCanary(c, r, settings))
	}
	if p := newPolicy(r, settings); p != nil {
		entry.Policy = h.place(*p)
	}
	return entry
}

// place gives the place of a policy, counted from 1; equal ones are held once.
func (h *hostEntry) place(p policyEntry) int {
	for i := range h.Policies {
		if h.Policies[i].ID == p.ID {
			return i + 1
		}
	}
	h.Policies = append(h.Policies, p)
	return len(h.Policies)
}

// options are "CONNECT SEND READ TRIES BALANCE" for the balancer, empty when all are as the settings say.
func options(t model.Timeouts, tries int, balance string, settings *model.Settings) string {
	usual := t == settings.Route.Timeouts
	if usual && tries == settings.Route.Retries.Tries && balance == "" {
		return ""
	}
	if balance == "" {
		balance = "-"
	}
	if usual {
		return fmt.Sprintf("- - - %d %s", tries, balance)
	}
	return fmt.Sprintf("%g %g %g %d %s", t.Connect.Seconds(), t.Send.Seconds(), t.Read.Seconds(), tries, balance)
}

func newCanary(c model.Canary, r *model.Route, settings *model.Settings) canaryEntry {
	balance := newBalance(c.Balance, settings)
	entry := canaryEntry{
		Backend: backendKey(c.Backend),
		Header:  c.Header, HeaderValue: c.HeaderValue, HeaderPattern: c.HeaderPattern, Cookie: c.Cookie,
		Options: options(r.Policy.Timeouts, r.Policy.Retries.Tries, balanceID(balance), settings),
		Balance: balance,
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
