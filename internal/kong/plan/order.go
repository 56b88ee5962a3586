// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// order says of each operation what it waits for:
//
//   - what is created waits for what it refers to, and what is deleted for what refers to it to go or to look elsewhere;
//   - who claims a unique value waits for the one that has it;
//   - a new service waits for its upstream and the targets, a new route with its service for the plugins that decide who may pass;
//   - old targets, plugins and routes of an object go when the new ones are there.
func (d *diff) order() {
	d.connects = map[entity.Place]*Operation{}
	guards := d.guardsByScope()
	for _, o := range slices.Clone(d.operations) {
		if o.Kind == entity.Routes && o.Entity != nil {
			d.closeWindow(o, guards)
		}
	}
	d.references()
	d.releases()
	d.endpoints()
	d.successors()
	d.unique()
	breakCircles(d.operations)
}

// wait makes o wait for another operation, whose success it needs.
func (o *Operation) wait(other *Operation) {
	if other != nil && other != o && !slices.Contains(o.After, other) {
		o.After = append(o.After, other)
	}
}

// follow makes o wait for another operation to be over.
func (o *Operation) follow(other *Operation) {
	if other != nil && other != o && !slices.Contains(o.Behind, other) {
		o.Behind = append(o.Behind, other)
	}
}

// references has creates and updates wait for what they refer to.
func (d *diff) references() {
	for _, o := range d.operations {
		if o.Entity == nil || o.Verb == Park {
			continue
		}
		for _, need := range entity.Needs(o.Entity) {
			if parent := d.of[need]; parent != nil && parent.Verb == Create && parent != o && !withoutService(o, need) {
				o.wait(parent)
			}
		}
	}
}

// withoutService tells whether a new route is created before its service matters.
func withoutService(o *Operation, need entity.Place) bool {
	return o.Kind == entity.Routes && o.Verb == Create && need.Kind == entity.Services.Name && !bytesHaveService(o.Body)
}

// releases has deletes wait for those that refer to what goes.
func (d *diff) releases() {
	for _, o := range d.operations {
		place := entity.Place{Kind: o.Kind.Name, ID: o.ID}
		h := d.held.At(place)
		if h == nil || d.of[place] != o {
			continue
		}
		for _, key := range o.Kind.Foreign {
			if parent := d.of[entity.Place{Kind: key.Kind, ID: h.Values[key.Field]}]; parent != nil && parent.Verb == Delete {
				parent.wait(o)
			}
		}
	}
	// Lists of ids are not among the values of what is held: a CA certificate waits for all changes of services.
	for _, o := range d.operations {
		if o.Verb != Delete || o.Kind != entity.CACertificates {
			continue
		}
		for _, other := range d.operations {
			if other.Kind == entity.Services {
				o.wait(other)
			}
		}
	}
}

// guardsByScope lists the new plugins that decide who may pass, by the route or service that they are for; the global ones stand under "".
func (d *diff) guardsByScope() map[string][]*Operation {
	found := map[string][]*Operation{}
	for _, o := range d.operations {
		p, ok := o.Entity.(*entity.Plugin)
		if !ok || !Guards(p) || p.Consumer != nil || p.ConsumerGroup != nil {
			continue
		}
		id := entity.Text(p, "route")
		if id == "" {
			id = entity.Text(p, "service")
		}
		found[id] = append(found[id], o)
	}
	return found
}

// closeWindow has a route meet its service only when the plugins are there that decide who may pass.
func (d *diff) closeWindow(o *Operation, guards map[string][]*Operation) {
	service := entity.Text(o.Entity, "service")
	own := guards[o.ID]
	shared := slices.Concat(guards[service], guards[""])
	if service == "" || len(own)+len(shared) == 0 {
		return
	}
	if o.Verb == Update {
		for _, g := range slices.Concat(own, shared) {
			o.wait(g)
		}
		return
	}
	if len(own) == 0 { // plugins of the service, or of all, can be there before the route
		for _, g := range shared {
			o.wait(g)
		}
		return
	}
	connect := &Operation{Verb: Connect, Kind: o.Kind, ID: o.ID, Entity: o.Entity, Tags: o.Tags, Body: connection(service, o.Tags)}
	// Until then the fingerprint must not say that the route is as it should be: the round may end in between.
	o.Tags = slices.DeleteFunc(slices.Clone(o.Tags), func(t string) bool { return t == Print(o.Tags) })
	o.Body = entity.Encode(entity.Without(o.Entity, "service"), entity.Body, o.Tags)
	connect.wait(o)
	for _, g := range slices.Concat(own, shared) {
		connect.wait(g)
	}
	d.connects[entity.PlaceOf(o.Entity)] = connect
	d.add(connect)
}

// connection is the body that gives a route its service.
func connection(service string, tags []string) []byte {
	body, err := json.Marshal(map[string]any{"service": map[string]string{"id": service}, "tags": tags})
	if err != nil {
		panic(fmt.Sprintf("plan: connect to %s: %v", service, err))
	}
	return body
}

// endpoints has services wait for their upstreams to be whole, and old targets for new ones.
func (d *diff) endpoints() {
	upstreams, targets := map[string]*Operation{}, map[string][]*Operation{}
	byName := map[string]string{}
	for _, o := range d.operations {
		if u, ok := o.Entity.(*entity.Upstream); ok {
			byName[u.Name] = o.ID
		}
		switch {
		case o.Kind == entity.Upstreams && o.Verb == Create:
			upstreams[o.ID] = o
		case o.Kind == entity.Targets && o.Verb == Create:
			targets[o.Parent] = append(targets[o.Parent], o)
		}
	}
	for _, o := range d.operations {
		if s, ok := o.Entity.(*entity.Service); ok {
			id := byName[s.Host]
			if h := d.held.owner(claims(entity.Upstreams, map[string]string{"name": s.Host})[0]); id == "" && h != nil {
				id = h.Place.ID
			}
			o.follow(upstreams[id])
			for _, t := range targets[id] {
				o.follow(t)
			}
		}
		if o.Kind == entity.Targets && o.Verb == Delete {
			for _, t := range targets[o.Parent] {
				o.follow(t)
			}
		}
	}
}

// successors has old routes and access plugins wait for the new ones of the same object: renamed routes leave no gap.
func (d *diff) successors() {
	created := map[string][]*Operation{}
	for _, o := range d.operations {
		if o.Verb == Create && (o.Kind == entity.Routes || o.Kind == entity.Plugins) {
			last := o
			if connect := d.connects[entity.Place{Kind: o.Kind.Name, ID: o.ID}]; connect != nil {
				last = connect
			}
			if name := source(o.Tags); name != "" {
				created[o.Kind.Name+name] = append(created[o.Kind.Name+name], last)
			}
			for _, name := range []string{"route", "service"} {
				if id := entity.Text(o.Entity, name); o.Kind == entity.Plugins && id != "" {
					created[name+id] = append(created[name+id], o)
				}
			}
		}
	}
	for _, o := range d.operations {
		if o.Verb != Delete {
			continue
		}
		h := d.held.At(entity.Place{Kind: o.Kind.Name, ID: o.ID})
		var successors []*Operation
		switch {
		case o.Kind == entity.Routes:
			successors = created[o.Kind.Name+source(o.Tags)]
		case o.Kind == entity.Plugins && h.Values["route"] != "":
			successors = created["route"+h.Values["route"]]
		case o.Kind == entity.Plugins && h.Values["service"] != "":
			successors = created["service"+h.Values["service"]]
		}
		for _, s := range successors {
			if !d.claimsOf(s, h) {
				o.wait(s)
			}
		}
	}
}

// claimsOf tells whether an operation claims what a held entity has, so that it cannot come before that goes.
func (d *diff) claimsOf(o *Operation, h *Held) bool {
	has := claims(o.Kind, h.Values)
	return slices.ContainsFunc(claims(o.Kind, valuesOf(o.Entity)), func(c string) bool { return slices.Contains(has, c) })
}

// unique has those that claim a value wait for the one that has it; where they wait for each other, one gives it up for the time being.
func (d *diff) unique() {
	for _, o := range slices.Clone(d.operations) {
		if o.Entity == nil || o.Verb == Park || o.Verb == Connect {
			continue
		}
		for _, c := range claims(o.Kind, valuesOf(o.Entity)) {
			h := d.held.owner(c)
			if h == nil || h.Place == entity.PlaceOf(o.Entity) {
				continue
			}
			other := d.of[h.Place]
			if other == nil {
				continue // it goes with its parent, or keeps the value, which Kong will tell
			}
			if !reaches(other, o) {
				o.wait(other)
				continue
			}
			o.wait(d.park(h, other))
		}
	}
}

// park has a held entity give up the first of its unique fields. Its id is a value that nobody else has and that every such field can take.
func (d *diff) park(h *Held, update *Operation) *Operation {
	kind := entity.KindNamed(h.Place.Kind)
	body, err := json.Marshal(map[string]string{kind.Unique[0][0]: h.Place.ID})
	if err != nil {
		panic(fmt.Sprintf("plan: park %s: %v", h.Place.ID, err))
	}
	o := &Operation{Verb: Park, Kind: kind, ID: h.Place.ID, Parent: h.Parent, Entity: update.Entity, Tags: h.Tags, Body: body}
	update.wait(o)
	d.add(o)
	return o
}

// reaches tells whether from waits for to, however far.
func reaches(from, to *Operation) bool {
	seen := map[*Operation]bool{}
	var walk func(*Operation) bool
	walk = func(o *Operation) bool {
		if o == to {
			return true
		}
		if seen[o] {
			return false
		}
		seen[o] = true
		return slices.ContainsFunc(o.After, walk) || slices.ContainsFunc(o.Behind, walk)
	}
	return walk(from)
}

// breakCircles drops what would have operations wait for each other. Kong may then refuse one of them, which the next round makes good.
func breakCircles(operations []*Operation) {
	const under, over = 1, 2
	state := map[*Operation]int{}
	var walk func(*Operation)
	drop := func(list []*Operation) []*Operation {
		var kept []*Operation
		for _, other := range list {
			if state[other] == under {
				continue
			}
			if state[other] == 0 {
				walk(other)
			}
			kept = append(kept, other)
		}
		return kept
	}
	walk = func(o *Operation) {
		state[o] = under
		o.After = drop(o.After)
		o.Behind = drop(o.Behind)
		state[o] = over
	}
	for _, o := range operations {
		if state[o] == 0 {
			walk(o)
		}
	}
}
