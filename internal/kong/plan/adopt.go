// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/fairway-ingress/fairway/internal/kong/entity"

// adopt gives wanted entities the ids under which a gateway holds them already, by what is unique of them, and carries that over to all that
// refers to them. An id that another wanted entity has is left to that one.
func adopt(wanted []entity.Entity, held *Inventory) []entity.Entity {
	taken := make(map[entity.Place]bool, len(wanted))
	for _, e := range wanted {
		taken[entity.PlaceOf(e)] = true
	}
	renames := map[entity.Place]string{}
	rename := func(kind, id string) string {
		if other, ok := renames[entity.Place{Kind: kind, ID: id}]; ok {
			return other
		}
		return id
	}
	adopted := make([]entity.Entity, 0, len(wanted))
	for _, e := range wanted { // in the order of creation, so that what e refers to has its id already
		if len(renames) > 0 {
			e = entity.Renamed(e, rename)
		}
		if held.At(entity.PlaceOf(e)) == nil {
			for _, c := range claims(e.Kind(), valuesOf(e)) {
				if h := held.owner(c); h != nil && !taken[h.Place] {
					taken[h.Place] = true
					renames[entity.PlaceOf(e)] = h.Place.ID
					e = entity.Renamed(e, rename)
					break
				}
			}
		}
		adopted = append(adopted, e)
	}
	return adopted
}

// adoptable tells whether a gateway holds an entity under an id that nobody wants.
func adoptable(e entity.Entity, held *Inventory, wanted func(entity.Place) entity.Entity) bool {
	for _, c := range claims(e.Kind(), valuesOf(e)) {
		if h := held.owner(c); h != nil && wanted(h.Place) == nil {
			return true
		}
	}
	return false
}

func valuesOf(e entity.Entity) map[string]string {
	values := map[string]string{}
	for _, name := range fieldsOf(e.Kind()) {
		if text := entity.Text(e, name); text != "" {
			values[name] = normal(e.Kind(), name, text)
		}
	}
	return values
}
