// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// Sound leaves out what cannot be sent anyway, because it refers to nothing or claims what another entity has.
func Sound(s *entity.State) (*entity.State, []entity.Fault) {
	var all []entity.Fault
	for {
		faults := s.Check()
		if len(faults) == 0 {
			return s, all
		}
		all = append(all, faults...)
		s = Exclude(s, places(faults))
	}
}

func places(faults []entity.Fault) map[entity.Place]bool {
	out := map[entity.Place]bool{}
	for _, f := range faults {
		out[entity.PlaceOf(f.Entity)] = true
	}
	return out
}

// Exclude gives a state without those entities and without all that would be wrong without them. Nothing is opened by that: the routes of a service
// stay, without a service, so that Kong answers 503, and where a plugin goes that decides who may pass, one that refuses everybody takes its place.
func Exclude(s *entity.State, out map[entity.Place]bool) *entity.State {
	if len(out) == 0 {
		return s
	}
	x := &exclusion{out: map[entity.Place]bool{}}
	for place := range out {
		x.out[place] = true
	}
	rest := s.Entities
	for {
		before := len(x.out)
		rest = x.pass(rest)
		if len(x.out) == before {
			return entity.NewState(rest)
		}
	}
}

// exclusion is one call of Exclude.
type exclusion struct{ out map[entity.Place]bool }

// pass goes once over the entities; what it takes out may concern entities that it has passed already.
func (x *exclusion) pass(entities []entity.Entity) []entity.Entity {
	var rest []entity.Entity
	for _, e := range entities {
		switch missing := x.missing(e); {
		case x.out[entity.PlaceOf(e)]:
			if stand := x.standIn(e, entities); stand != nil {
				rest = append(rest, stand)
			}
		case missing == "":
			rest = append(rest, e)
		case e.Kind() == entity.Routes && missing == "service":
			rest = append(rest, entity.Without(e, "service"))
		default:
			x.out[entity.PlaceOf(e)] = true
			rest = append(rest, e) // gone in the next pass
		}
	}
	return rest
}

// missing gives the field in which the entity refers to one that is out, or "".
func (x *exclusion) missing(e entity.Entity) string {
	for _, key := range e.Kind().Foreign {
		for _, need := range entity.Needs(e) {
			if need.Kind == key.Kind && x.out[need] && (key.Many || entity.Text(e, key.Field) == need.ID) {
				return key.Field
			}
		}
	}
	return ""
}

// terminator is the plugin that answers in place of all others.
const terminator = "request-termination"

// standIn gives what takes the place of an entity that is out: for a plugin that decides who may pass one that refuses, unless its scope is out too
// or closed already.
func (x *exclusion) standIn(e entity.Entity, among []entity.Entity) entity.Entity {
	p, ok := e.(*entity.Plugin)
	if !ok || !Guards(p) || p.Name == terminator || x.missing(e) != "" {
		return nil
	}
	stand := &entity.Plugin{
		Meta: p.Meta, Name: terminator, Service: p.Service, Route: p.Route, Consumer: p.Consumer, ConsumerGroup: p.ConsumerGroup, Protocols: p.Protocols,
		Config: map[string]any{"status_code": 503, "message": "access to this route cannot be controlled as written"},
	}
	stand.ID = entity.NewID(entity.Plugins, "closed/"+p.ID)
	closed := slices.ContainsFunc(among, func(o entity.Entity) bool {
		other, isPlugin := o.(*entity.Plugin)
		return isPlugin && other.Name == terminator && scope(other) == scope(stand)
	})
	if closed {
		return nil
	}
	return stand
}

// Guards tells whether requests must not pass without the plugin.
func Guards(p *entity.Plugin) bool {
	return (entity.ControlsAccess(p.Name) || p.Name == terminator) && (p.Enabled == nil || *p.Enabled)
}

func scope(p *entity.Plugin) [4]string {
	var s [4]string
	for i, name := range []string{"service", "route", "consumer", "consumer_group"} {
		s[i] = entity.Text(p, name)
	}
	return s
}
