// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// Restore puts last good forms in the place of entities that are refused, as far as they fit: what they refer to must be there, what must be unique of
// them must be free, and no other route may match the same. Good gives the last good form of an entity, or nil. Unless all is set that is done only
// for plugins that decide who may pass. It gives the new state, and what of the refused is restored in it; the rest is for [Exclude].
func Restore(s *entity.State, refused map[entity.Place]bool, good func(entity.Place) entity.Entity, all bool) (*entity.State, map[entity.Place]bool) {
	r := &restoration{refused: refused, old: map[entity.Place]entity.Entity{}}
	for _, e := range s.Entities {
		place := entity.PlaceOf(e)
		if !refused[place] {
			continue
		}
		last := good(place)
		if last == nil || !stands(last, e, all) {
			continue
		}
		last = entity.WithMeta(last, *e.Common())
		if !bytes.Equal(entity.Encode(last, entity.Flat, nil), entity.Encode(e, entity.Flat, nil)) {
			r.old[place] = last
		}
	}
	if len(r.old) == 0 {
		return s, nil
	}
	r.fit(s.Entities)
	entities, restored := make([]entity.Entity, len(s.Entities)), map[entity.Place]bool{}
	for i, e := range s.Entities {
		entities[i] = e
		if last := r.old[entity.PlaceOf(e)]; last != nil {
			entities[i] = last
			restored[entity.PlaceOf(e)] = true
		}
	}
	return entity.NewState(entities), restored
}

// stands tells whether the last form may stand in for an entity: never one that lets pass whom the entity would not.
func stands(last, e entity.Entity, all bool) bool {
	p, isPlugin := e.(*entity.Plugin)
	if !isPlugin || !Guards(p) {
		return all
	}
	old, ok := last.(*entity.Plugin)
	return ok && Guards(old) && scope(old) == scope(p)
}

// restoration is one call of Restore.
type restoration struct {
	refused map[entity.Place]bool
	old     map[entity.Place]entity.Entity
}

// fit drops last forms until those that are left go together with all else.
func (r *restoration) fit(entities []entity.Entity) {
	taken, matched, present := map[string]bool{}, map[string]bool{}, map[entity.Place]bool{}
	for _, e := range entities {
		if r.refused[entity.PlaceOf(e)] {
			continue
		}
		present[entity.PlaceOf(e)] = true
		for _, c := range uniqueOf(e) {
			taken[c] = true
		}
		for _, m := range matchers(e) {
			matched[m] = true
		}
	}
	for _, e := range entities { // in their order, so that the outcome is always the same
		place := entity.PlaceOf(e)
		old := r.old[place]
		if old == nil {
			continue
		}
		claims, matches := uniqueOf(old), matchers(old)
		is := func(set map[string]bool) func(string) bool { return func(s string) bool { return set[s] } }
		if slices.ContainsFunc(claims, is(taken)) || slices.ContainsFunc(matches, is(matched)) {
			delete(r.old, place)
			continue
		}
		for _, c := range claims {
			taken[c] = true
		}
		for _, m := range matches {
			matched[m] = true
		}
	}
	for dropped := true; dropped; {
		dropped = false
		for place, old := range r.old {
			lost := func(need entity.Place) bool { return !present[need] && r.old[need] == nil }
			if slices.ContainsFunc(entity.Needs(old), lost) {
				delete(r.old, place)
				dropped = true
			}
		}
	}
}

func uniqueOf(e entity.Entity) []string { return claims(e.Kind(), valuesOf(e)) }

// matchers gives what a route matches, a text for each host and path with all else that counts; nothing for other kinds.
func matchers(e entity.Entity) []string {
	route, ok := e.(*entity.Route)
	if !ok {
		return nil
	}
	rest := entity.Encode(&entity.Route{
		Protocols: route.Protocols, Methods: route.Methods, Headers: route.Headers, SNIs: route.SNIs, Sources: route.Sources, Destinations: route.Destinations,
		Expression: route.Expression,
	}, entity.Flat, nil)
	var all []string
	for _, host := range orNone(route.Hosts) {
		for _, path := range orNone(route.Paths) {
			all = append(all, strings.ToLower(host)+"\x00"+path+"\x00"+string(rest))
		}
	}
	return all
}

func orNone(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}
