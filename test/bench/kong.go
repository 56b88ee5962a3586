// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/md5" //nolint:gosec // what Kong names a configuration by
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
	"github.com/fairway-ingress/fairway/internal/kong/translate"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// kongChanges is how often each change is made.
const kongChanges = 15

// measureKong measures what a change costs the controller of Kong Gateways before anything is sent: the model, what a gateway is to hold, and the
// requests to a database or the document for a gateway without one.
func measureKong(_ context.Context, s settings, r *report) error {
	sizes := []int{100, 1_000, 10_000}
	if s.quick {
		sizes = sizes[:2]
	}
	secret, err := testbed.NewTLSSecret("wildcard", "*.bench.example", 1)
	if err != nil {
		return err
	}
	first := map[string]time.Duration{}
	for _, n := range sizes {
		snapshot := kongCluster(n, secret.Data["tls.crt"], secret.Data["tls.key"])
		for _, database := range []bool{true, false} {
			p := newKongPipeline(database)
			cold := p.round(snapshot)
			p.add(r, n, "everything from nothing", []kongCost{cold}, first)
			for _, change := range kongChangesOf(snapshot) {
				p.add(r, n, change.name, p.repeat(snapshot, change), first)
			}
		}
	}
	return nil
}

// kongChange is a change of one object; i counts how often it was made.
type kongChange struct {
	name string
	make func(s *source.Snapshot, i int)
}

// kongChangesOf gives changes of a cluster. Each makes tables of its own, as a source does.
func kongChangesOf(s *source.Snapshot) []kongChange {
	at := len(s.Ingresses) / 2
	app := s.Ingresses[at].ObjectMeta
	number, _ := strconv.Atoi(app.Name[len("app-"):]) // as kongCluster has named it
	key := source.Key{Namespace: app.Namespace, Name: app.Name}
	return []kongChange{
		{"nothing", func(*source.Snapshot, int) {}},
		{"one endpoint", func(s *source.Snapshot, i int) {
			slices := map[source.Key][]*discoveryv1.EndpointSlice{}
			for k, v := range s.EndpointSlices {
				slices[k] = v
			}
			slices[key] = kongSlices(app, number, 1+i%2, 2)
			s.EndpointSlices = slices
		}},
		{"one Ingress", func(s *source.Snapshot, i int) {
			ing := s.Ingresses[at].DeepCopy()
			ing.Annotations["konghq.com/strip-path"] = strconv.FormatBool(i%2 == 0)
			s.Ingresses = slices.Clone(s.Ingresses)
			s.Ingresses[at] = ing
		}},
		{"one Ingress more or less", func(s *source.Snapshot, i int) {
			more := app
			more.Name, more.UID = "app-new", "more"
			s.Ingresses = slices.DeleteFunc(slices.Clone(s.Ingresses), func(ing *netv1.Ingress) bool { return ing.Name == more.Name })
			if i%2 == 0 {
				s.Ingresses = append(s.Ingresses, kongIngress(more, 1))
				slices.SortFunc(s.Ingresses, source.Older)
			}
		}},
	}
}

// kongPipeline is everything between a snapshot and what is sent.
type kongPipeline struct {
	database   bool
	base       *ingress.Builder
	meaning    *konghq.Builder
	translator *translate.Translator
	gateway    *entity.Gateway
	checker    plan.Checker
	held       *plan.Inventory
	writer     entity.Writer
	sent       *entity.State
}

func newKongPipeline(database bool) *kongPipeline {
	gateway := &entity.Gateway{Version: entity.Version{Major: 3, Minor: 9}, Flavor: "traditional_compatible", Database: database}
	return &kongPipeline{
		database: database, gateway: gateway, base: ingress.NewBuilder(ingress.Options{ControllerClass: konghq.DefaultControllerClass}),
		meaning: konghq.NewBuilder(&konghq.Options{}), translator: translate.New(translate.Options{}),
		held: plan.NewInventory(nil), writer: entity.Writer{Version: gateway.Version, Form: entity.Flat},
	}
}

// kongCost is what one round cost, and what it came to.
type kongCost struct {
	build, translate, send time.Duration
	operations, bytes      int
}

func (c kongCost) total() time.Duration { return c.build + c.translate + c.send }

func (p *kongPipeline) round(s *source.Snapshot) (c kongCost) {
	begin := time.Now()
	lap := func(d *time.Duration) {
		now := time.Now()
		*d, begin = now.Sub(begin), now
	}
	result := p.base.Build(s)
	p.meaning.Build(s, result)
	lap(&c.build)
	state := p.state(result.Model)
	lap(&c.translate)
	wanted, _ := p.checker.Sound(state)
	if p.database {
		operations := plan.Diff(p.held, wanted, plan.Labels{Selector: "managed-by-fairway"}, nil)
		lap(&c.send)
		c.operations = len(operations)
		for _, o := range operations { // as if they had been carried out
			if h := o.Result(); h != nil {
				p.held.Put(h)
			} else {
				p.held.Remove(entity.Place{Kind: o.Kind.Name, ID: o.ID})
			}
		}
		p.held.Settle()
	} else if p.sent != wanted {
		document := p.writer.Document(wanted)
		md5.Sum(document) //nolint:gosec // see the import
		p.sent, c.bytes = wanted, len(document)
		lap(&c.send)
	}
	return c
}

func (p *kongPipeline) state(m *model.Model) *entity.State {
	state, _ := p.translator.Translate(m, p.gateway)
	return state
}

// repeat makes a change again and again.
func (p *kongPipeline) repeat(s *source.Snapshot, change kongChange) []kongCost {
	p.round(s)
	var costs []kongCost
	for i := range kongChanges {
		next := *s
		change.make(&next, i)
		runtime.GC() // its cost is that of what lives, whoever has made it
		costs = append(costs, p.round(&next))
	}
	return costs
}

// add adds the median of costs; first has the median of the smallest cluster by what was measured.
func (p *kongPipeline) add(r *report, n int, what string, costs []kongCost, first map[string]time.Duration) {
	slices.SortFunc(costs, func(a, b kongCost) int { return int(a.total() - b.total()) })
	c := costs[len(costs)/2]
	mode, last, came := "DB-less", "document", fmt.Sprintf("%.1f MiB to send", float64(c.bytes)/(1<<20))
	if p.database {
		mode, last, came = "database", "plan", fmt.Sprintf("%d requests", c.operations)
	}
	note := fmt.Sprintf("model %s, translation %s, %s %s", kongTime(c.build), kongTime(c.translate), last, kongTime(c.send))
	if known := first[mode+what]; known == 0 {
		first[mode+what] = c.total()
	} else {
		note += fmt.Sprintf("; %.1f × that with 100", float64(c.total())/float64(known))
	}
	r.add("kong", fmt.Sprintf("%s, %s, %d Ingresses", mode, what, n), float64(c.total())/float64(time.Millisecond), "ms", note+"; "+came)
}

func kongTime(d time.Duration) string { return short(float64(d)/float64(time.Millisecond)) + " ms" }
