// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// culprits finds the entities for which a document was refused: by the list that Kong gives, by their place in the document, by name; and
// where it says nothing of use by asking for each entity that is new since the last good document. Documents are never tried by halves: each
// half that is taken would be in force.
func (p *pushing) culprits(ctx context.Context, state *entity.State, err error) []entity.Fault {
	failure := new(admin.Error)
	if !errors.As(err, &failure) {
		return nil
	}
	found := faults{}
	for _, f := range failure.Flattened {
		for _, e := range state.Entities {
			if e.Kind().Singular == f.Type && (f.ID == e.Common().ID || f.ID == "" && f.Name == entity.Name(e)) {
				found[entity.PlaceOf(e)] = entity.Fault{Entity: e, Reason: f.Reason()}
			}
		}
	}
	if len(found) == 0 {
		byField(state, failure.Fields, found)
	}
	if len(found) == 0 {
		p.ask(ctx, state, found)
	}
	return slices.Collect(maps.Values(found))
}

// byField understands errors by collection and place, or name.
func byField(state *entity.State, fields map[string]any, found faults) {
	for collection, value := range fields {
		kind := entity.KindNamed(collection)
		rows, ok := value.(map[string]any)
		if list, isList := value.([]any); isList { // with nulls for what is well
			rows, ok = map[string]any{}, true
			for i, v := range list {
				if v != nil {
					rows[strconv.Itoa(i+1)] = v
				}
			}
		}
		if kind == nil || !ok {
			continue
		}
		for at, what := range rows {
			if e := located(state, kind, at); e != nil {
				reason := (&admin.Error{Class: admin.Invalid, Fields: map[string]any{kind.Singular: what}}).Reason()
				found[entity.PlaceOf(e)] = entity.Fault{Entity: e, Reason: reason}
			}
		}
	}
}

// located gives the entity of a kind by its name, its id, or its number in the document.
func located(state *entity.State, kind *entity.Kind, at string) entity.Entity {
	number, _ := strconv.Atoi(strings.TrimSpace(at)) // 0 is nobody's
	for _, e := range state.Entities {
		if e.Kind() != kind {
			continue
		}
		number--
		if number == 0 || entity.Name(e) == at || e.Common().ID == at {
			return e
		}
	}
	return nil
}

// ask has the gateway check the schema of each entity that the last good document did not have.
func (p *pushing) ask(ctx context.Context, state *entity.State, found faults) {
	good := p.goodForms()
	var mu sync.Mutex // guards found
	var questions []func() error
	for _, e := range state.Entities {
		last := good[entity.PlaceOf(e)]
		if e.Kind().Path == "" || last != nil && p.print(entity.WithMeta(last, *e.Common())) == p.print(e) {
			continue
		}
		questions = append(questions, func() error {
			failure := new(admin.Error)
			err := p.gateway.client.Validate(ctx, e.Kind(), entity.Encode(e, entity.Body, nil))
			if errors.As(err, &failure) && failure.Class == admin.Invalid {
				mu.Lock()
				defer mu.Unlock()
				found[entity.PlaceOf(e)] = entity.Fault{Entity: e, Reason: failure.Reason()}
			}
			return nil
		})
	}
	_ = together(questions) // what could not be asked is no culprit
}
