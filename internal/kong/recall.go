// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// recall reads what the gateway holds, once, where nothing is known of it: after a restart of the controller that is the last good state.
func (p *pushing) recall(ctx context.Context) {
	if p.doc.accepted != nil || p.doc.recalled {
		return
	}
	if p.held == "" || p.held == admin.NoHash {
		p.doc.recalled = true
		return
	}
	log := p.driver.o.Log.With("gateway", p.gateway.endpoint.URL)
	document, err := p.gateway.client.Document(ctx)
	if passing(err) {
		return // asked again in the next round
	}
	p.doc.recalled = true
	var state *entity.State
	if err == nil {
		state, err = entity.ReadDocument(document)
	}
	if err != nil {
		log.Warn("what the gateway holds cannot be read, so that there is no last good state", "err", err)
		return
	}
	good := p.goodForms()
	for _, e := range state.Entities {
		good[entity.PlaceOf(e)] = e
	}
	log.Info("the gateway refuses some of the state, and what it holds counts as the last that was good", "entities", len(state.Entities))
}

// refill gives gateways that hold nothing, and take nothing that is wanted, the last document that was taken: by themselves, or by one that is alike.
func refill(ctx context.Context, all []*pushing) {
	for _, p := range all {
		if p.err == nil || p.held != admin.NoHash || !isOfDocument(p.err) {
			continue
		}
		last := p.doc.accepted
		for _, other := range all {
			if last == nil && other.doc.likeness == p.doc.likeness {
				last = other.doc.accepted
			}
		}
		if last == nil {
			continue
		}
		if err := p.load(ctx, last); err == nil {
			p.driver.o.Log.Warn("the gateway was empty and takes nothing newer, so it has the last good configuration", "gateway", p.gateway.endpoint.URL)
		}
	}
}

// isOfDocument tells whether an error is about what was sent, and another document may be taken.
func isOfDocument(err error) bool {
	failure := new(admin.Error)
	return isolable(err) || errors.As(err, &failure) && failure.Status == http.StatusRequestEntityTooLarge
}

// mostNamed bounds the gateways that a Problem names.
const mostNamed = 3

// told gives what gateways refuse as Problems, each once. What others take is told with the names of those that don't.
func told(all []*pushing) []model.Problem {
	type what struct {
		place               entity.Place
		reason, consequence string
	}
	where, of := map[what][]string{}, map[what]fault{}
	for _, p := range all {
		if p.sent == nil {
			continue
		}
		for _, f := range p.sent.faults {
			key := what{entity.PlaceOf(f.Entity), f.Reason, f.consequence}
			where[key], of[key] = append(where[key], p.gateway.endpoint.URL), f
		}
	}
	order := slices.SortedFunc(maps.Keys(of), func(a, b what) int {
		return cmp.Or(cmp.Compare(a.place.Kind, b.place.Kind), cmp.Compare(a.place.ID, b.place.ID), cmp.Compare(a.reason, b.reason),
			cmp.Compare(a.consequence, b.consequence))
	})
	var problems []model.Problem
	for _, key := range order {
		f := of[key]
		if names := where[key]; len(names) < len(all) {
			more := ""
			if len(names) > mostNamed {
				more, names = fmt.Sprintf(" and %d more", len(names)-mostNamed), names[:mostNamed]
			}
			f.Reason += " (at " + strings.Join(names, ", ") + more + ")"
		}
		problems = append(problems, f.Problem(f.consequence))
	}
	return problems
}

// byKind counts faults by the kind of the entities.
func byKind(faults []fault) map[string]int {
	counts := map[string]int{}
	for _, f := range faults {
		counts[f.Entity.Kind().Singular]++
	}
	return counts
}
