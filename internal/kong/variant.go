// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
)

// draft is what documents for gateways that are alike are made with, from one round to the next.
type draft struct {
	version entity.Version
	checker plan.Checker
	// writer is for what can be sent at all, fallback for what is left of that.
	writer, fallback entity.Writer

	state  *entity.State // what was wanted last
	wanted *wanted
}

// draftFor gives the draft for gateways of a likeness.
func (d *Driver) draftFor(likeness string, version entity.Version) *draft {
	f := d.drafts[likeness]
	if f == nil {
		f = &draft{
			version: version, writer: entity.Writer{Version: version, Form: entity.Flat}, fallback: entity.Writer{Version: version, Form: entity.Flat},
		}
		d.drafts[likeness] = f
	}
	return f
}

// of gives what is wanted by a state, as it was when the state is the same. What gateways refused in other rounds does not count.
func (f *draft) of(state *entity.State) *wanted {
	if f.state != state {
		f.state, f.wanted = state, newWanted(f, state)
	}
	f.wanted.variants = map[string]*variant{}
	return f.wanted
}

// wanted is what gateways that are alike are to hold. It is shared by those that are pushed to at the same time.
type wanted struct {
	draft *draft
	// whole is all that can be sent at all.
	whole *variant
	// entities are those of the whole, by place.
	entities func() map[entity.Place]entity.Entity

	mu       sync.Mutex // guards what follows
	variants map[string]*variant
}

// variant is a document without what some gateway refuses, or with last good forms of it.
type variant struct {
	version entity.Version
	state   *entity.State
	text    []byte
	hash    string
	// faults are what is not in force as written; fallback is set when a gateway refused some of it.
	faults   []fault
	fallback bool
	// restored are the places with a last good form.
	restored map[entity.Place]bool
}

// fault is an entity that is not in force as written, and what is instead.
type fault struct {
	entity.Fault
	consequence string
}

// What is in force in the place of an entity that is refused.
const (
	othersInForce = "everything else is in force"
	lastInForce   = "its last good form stays in force"
	closed        = "what it should protect answers 503"
)

func newWanted(f *draft, state *entity.State) *wanted {
	sound, unsound := f.checker.Sound(state)
	w := &wanted{draft: f}
	w.whole = w.write(&f.writer, sound)
	for _, f := range unsound {
		w.whole.faults = append(w.whole.faults, fault{f, left(f.Entity)})
	}
	w.entities = sync.OnceValue(func() map[entity.Place]entity.Entity {
		all := make(map[entity.Place]entity.Entity, len(sound.Entities))
		for _, e := range sound.Entities {
			all[entity.PlaceOf(e)] = e
		}
		return all
	})
	return w
}

func (w *wanted) write(writer *entity.Writer, state *entity.State) *variant {
	text := writer.Document(state)
	return &variant{version: w.draft.version, state: state, text: text, hash: hashOf(text)}
}

// left says what is in force when an entity is left out.
func left(e entity.Entity) string {
	if p, ok := e.(*entity.Plugin); ok && plan.Guards(p) {
		return closed
	}
	return othersInForce
}

// variant gives what the gateway is to hold now that it refuses what it does.
func (p *pushing) variant() *variant {
	w := p.wanted
	if len(p.doc.refused) == 0 {
		return w.whole
	}
	refused := map[entity.Place]bool{}
	var key []string
	for place, r := range p.doc.refused {
		e := w.entities()[place]
		if e == nil || p.print(e) != r.Print {
			continue // gone, or changed, so that it is tried again
		}
		refused[place] = true
		print := ""
		if last := p.goodForms()[place]; last != nil {
			print = p.print(last)
		}
		key = append(key, place.Kind+"/"+place.ID+"="+print)
	}
	if len(refused) == 0 {
		return w.whole
	}
	slices.Sort(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	name := strings.Join(key, " ")
	v := w.variants[name]
	if v == nil {
		v = p.without(refused)
		w.variants[name] = v
	}
	return v
}

// without makes the document without what is refused, with last good forms where there are some that fit.
func (p *pushing) without(refused map[entity.Place]bool) *variant {
	begin, w, good := time.Now(), p.wanted, p.goodForms()
	state, restored := plan.Restore(w.whole.state, refused, func(at entity.Place) entity.Entity { return good[at] }, !p.driver.o.LeaveOut)
	out := map[entity.Place]bool{}
	for place := range refused {
		if !restored[place] {
			out[place] = true
		}
	}
	v := w.write(&w.draft.fallback, plan.Exclude(state, out))
	v.restored, v.fallback, v.faults = restored, true, slices.Clone(w.whole.faults)
	for _, e := range w.whole.state.Entities { // in their order
		place := entity.PlaceOf(e)
		if !refused[place] {
			continue
		}
		f := fault{entity.Fault{Entity: e, Reason: p.doc.refused[place].Reason}, left(e)}
		if restored[place] {
			f.consequence = lastInForce
		}
		v.faults = append(v.faults, f)
	}
	p.driver.o.FellBack(len(refused), time.Since(begin))
	return v
}

// goodForms gives the last good forms of entities; it may be changed.
func (p *pushing) goodForms() map[entity.Place]entity.Entity {
	if p.doc.good == nil {
		p.doc.good = map[entity.Place]entity.Entity{}
		if p.doc.accepted != nil {
			for _, e := range p.doc.accepted.state.Entities {
				p.doc.good[entity.PlaceOf(e)] = e
			}
		}
	}
	return p.doc.good
}
