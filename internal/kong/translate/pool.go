// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"reflect"
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// pool has the entities of all units, each place once.
type pool struct {
	state  *entity.State
	claims map[entity.Place][]claim
	// touched are the places that were claimed or given up since the state was made, with what the state has there.
	touched map[entity.Place]entity.Entity
}

// claim is an entity that a unit makes.
type claim struct {
	rank   string
	entity entity.Entity
}

func newPool() *pool {
	return &pool{state: entity.NewState(nil), claims: map[entity.Place][]claim{}, touched: map[entity.Place]entity.Entity{}}
}

// exchange gives a unit other entities. Those that are equal to what it had before remain what they are.
func (p *pool) exchange(u *unit, fresh []entity.Entity) {
	old := make(map[entity.Place]entity.Entity, len(u.entities))
	for _, e := range u.entities {
		old[entity.PlaceOf(e)] = e
	}
	for i, e := range fresh {
		place := entity.PlaceOf(e)
		before := old[place]
		delete(old, place)
		if before != nil && reflect.DeepEqual(before, e) {
			fresh[i] = before
			continue
		}
		p.touch(place)
		p.giveUp(place, before)
		p.claims[place] = append(p.claims[place], claim{u.rank, e})
	}
	for place, e := range old {
		p.touch(place)
		p.giveUp(place, e)
	}
	u.entities = fresh
}

func (p *pool) touch(place entity.Place) {
	if _, known := p.touched[place]; !known {
		p.touched[place] = winner(p.claims[place])
	}
}

func (p *pool) giveUp(place entity.Place, e entity.Entity) {
	rest := slices.DeleteFunc(p.claims[place], func(c claim) bool { return c.entity == e })
	if len(rest) == 0 {
		delete(p.claims, place)
		return
	}
	p.claims[place] = rest
}

// winner gives the entity of the least rank, or nil.
func winner(claims []claim) entity.Entity {
	if len(claims) == 0 {
		return nil
	}
	least := claims[0]
	for _, c := range claims[1:] {
		if c.rank < least.rank {
			least = c
		}
	}
	return least.entity
}

// settle gives the state of all units. It is the same state when none of them has changed.
func (p *pool) settle() *entity.State {
	changes := make([]entity.Change, 0, len(p.touched))
	for place, before := range p.touched {
		if now := winner(p.claims[place]); now != before {
			changes = append(changes, entity.Change{Place: place, Entity: now})
		}
	}
	clear(p.touched)
	p.state = p.state.With(changes)
	return p.state
}
