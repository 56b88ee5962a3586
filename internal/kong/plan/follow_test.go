// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// walk is a state whose entities come, go and change at random. They may lack what they refer to, and clash.
type walk struct {
	random   *rand.Rand
	present  map[entity.Place]entity.Entity
	sites    int
	versions int
}

// step changes some entities. The others stay the same pointers.
func (w *walk) step() *entity.State {
	for range 1 + w.random.IntN(4) {
		for _, e := range w.some() {
			if place := entity.PlaceOf(e); w.random.IntN(3) == 0 {
				delete(w.present, place)
			} else {
				w.present[place] = e
			}
		}
	}
	return entity.NewState(slices.Collect(maps.Values(w.present)))
}

// some gives new versions of entities of one site.
func (w *walk) some() []entity.Entity {
	i := w.random.IntN(w.sites)
	id := func(kind string) string { return fmt.Sprintf("%s%d", kind, i) }
	name := fmt.Sprintf("n%d", (i+w.random.IntN(5)/4)%w.sites) // sometimes that of a neighbour
	w.versions++
	upstream := &entity.Upstream{Meta: meta(id("u")), Name: name + ".svc", Slots: 10 + w.random.IntN(2)}
	service := &entity.Service{Meta: meta(id("s")), Name: name, Host: name + ".svc"}
	route := &entity.Route{Meta: meta(id("r")), Name: name, Paths: []string{fmt.Sprint("/", w.random.IntN(3))}, Service: entity.RefTo(service)}
	route.Tags = []string{"k8s-kind:Ingress", "k8s-name:" + id("i"), "k8s-namespace:a"}
	if w.random.IntN(4) == 0 {
		route.ID = id("q") // renamed
	}
	target := &entity.Target{Meta: meta(fmt.Sprintf("t%d-%d", i, w.random.IntN(3))), Target: fmt.Sprintf("10.0.0.%d:80", w.random.IntN(4)), Upstream: entity.RefTo(upstream)}
	plugin := &entity.Plugin{Meta: meta(id("p")), Name: []string{"key-auth", "cors"}[w.random.IntN(2)], Route: entity.RefTo(route)}
	consumer := &entity.Consumer{Meta: meta(id("c")), Username: name}
	group := &entity.ACL{Meta: meta(id("a")), Group: name, Consumer: entity.RefTo(consumer)}
	all := []entity.Entity{upstream, service, route, target, plugin, consumer, group}
	w.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+w.random.IntN(len(all))]
}

// TestFollowing compares what is found by looking at differences with what looking at everything finds: soundness, documents and plans.
func TestFollowing(t *testing.T) {
	for seed := range uint64(8) {
		w := &walk{random: rand.New(rand.NewPCG(seed, 3)), present: map[entity.Place]entity.Entity{}, sites: 4}
		var checker Checker
		writer := entity.Writer{Version: entity.Version{Major: 3, Minor: 9}, Form: entity.Flat}
		inventory, before := NewInventory(nil), entity.NewState(nil)
		for range 50 {
			state := w.step()
			sound, faults := checker.Sound(state)
			wantSound, wantFaults := Sound(state)
			if fmt.Sprint(sound.Entities) != fmt.Sprint(wantSound.Entities) && len(wantFaults) == 0 || len(faults) != len(wantFaults) {
				t.Fatalf("seed %d: faults %v, want %v", seed, faults, wantFaults)
			}
			if !bytes.Equal(writer.Document(sound), sound.Document(writer.Version, writer.Form)) {
				t.Fatalf("seed %d: the document differs", seed)
			}
			if again := before.With(entity.Changes(before, sound)); !slices.Equal(again.Entities, sound.Entities) {
				t.Fatalf("seed %d: changes %v do not lead from one state to the next", seed, entity.Changes(before, sound))
			}
			before = sound
			fresh := NewInventory(maps.Clone(inventory.held))
			for _, h := range fresh.held {
				plain := *h
				plain.of = nil
				fresh.Put(&plain)
			}
			got, want := Diff(inventory, sound, labels, nil), Diff(fresh, sound, labels, nil)
			if describe(got) != describe(want) {
				t.Fatalf("seed %d: plan\n%swant\n%s", seed, describe(got), describe(want))
			}
			w.carry(inventory, got)
		}
	}
}

// carry carries a plan out, sometimes not all of it.
func (w *walk) carry(inventory *Inventory, operations []*Operation) {
	all := w.random.IntN(4) > 0
	for _, o := range operations {
		if !all && w.random.IntN(3) == 0 {
			continue
		}
		if h := o.Result(); h != nil {
			inventory.Put(h)
		} else {
			inventory.Remove(entity.Place{Kind: o.Kind.Name, ID: o.ID})
		}
	}
	if all {
		inventory.Settle()
	}
}

func describe(operations []*Operation) string {
	var lines []string
	for _, o := range operations {
		lines = append(lines, fmt.Sprintln(o, o.ID, o.Parent, string(o.Body), o.Tags, names(o.After), names(o.Behind)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
