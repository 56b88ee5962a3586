// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"context"
	"crypto/md5" //nolint:gosec // what Kong names a configuration by
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
	"github.com/fairway-ingress/fairway/internal/model"
)

// document is what one gateway without a database took last, and what it refuses. Each gateway has its own: what one refuses is not taken from others.
type document struct {
	// likeness is that of the gateway when it took the document; after an upgrade all begins anew.
	likeness string
	// wanted names the document as it would be without refusals; accepted is the variant that was taken, nil before the first.
	wanted   string
	accepted *variant
	// good are the last good forms of entities: those of the accepted document, or what the gateway held when we came.
	good map[entity.Place]entity.Entity
	// recalled tells whether the gateway was asked for what it holds.
	recalled bool
	// refused are versions of entities that were not taken, by place; they are tried again after a while.
	refused map[entity.Place]plan.Refusal
	since   time.Time
}

// hashOf is the name that Kong gives a document that is sent as text.
func hashOf(document []byte) string {
	sum := md5.Sum(document) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// likeness is the same for gateways that should be given the same.
func likeness(g *entity.Gateway) string { return fmt.Sprintf("%+v", *g) }

// applyDocuments gives every gateway its document, all at the same time.
func (d *Driver) applyDocuments(ctx context.Context, ready []*gateway, m *model.Model) (model.Change, []model.Problem, error) {
	d.forget()
	kinds := map[string]*wanted{}
	var problems []model.Problem
	var all []*pushing
	var err error
	for _, g := range ready {
		name := likeness(g.about)
		if kinds[name] == nil {
			state, untranslated := d.o.Translate(m, g.about)
			problems = append(problems, untranslated...)
			if state, err = d.keepNames(ctx, ready, m, state); err != nil {
				return model.Change{}, problems, err
			}
			kinds[name] = d.draftFor(name, g.about.Version).of(state)
		}
		all = append(all, &pushing{driver: d, gateway: g, wanted: kinds[name], doc: d.documentOf(g, name)})
	}
	var wait sync.WaitGroup
	for _, p := range all {
		wait.Go(func() { p.err = p.run(ctx) })
	}
	wait.Wait()
	refill(ctx, all)
	maps.DeleteFunc(d.drafts, func(name string, _ *draft) bool { return kinds[name] == nil })
	d.noteVerified()
	var total model.Change
	for _, p := range all {
		total.Set += p.loaded
		total.Bytes += p.bytes
	}
	return total, append(problems, told(all)...), d.verdict(all)
}

// documentOf gives what is known of a gateway, a new one for a gateway that is new or another than before.
func (d *Driver) documentOf(g *gateway, likeness string) *document {
	doc := d.documents[g.endpoint.URL]
	if doc == nil || doc.likeness != likeness {
		doc = &document{likeness: likeness, refused: map[entity.Place]plan.Refusal{}, since: time.Now()}
		d.documents[g.endpoint.URL] = doc
	}
	return doc
}

// forget drops what is known of gateways that are gone. One that just does not answer is expected back, maybe empty.
func (d *Driver) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for url := range d.documents {
		if !slices.ContainsFunc(d.gateways, func(g *gateway) bool { return g.endpoint.URL == url }) {
			delete(d.documents, url)
		}
	}
}

func (d *Driver) noteVerified() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.verified.IsZero() || time.Since(d.verified) > d.o.VerifyEvery {
		d.verified = time.Now()
	}
}

// pushing is one call of applyDocuments for one gateway.
type pushing struct {
	driver  *Driver
	gateway *gateway
	wanted  *wanted
	doc     *document

	// sent is the last variant that was tried, and err what became of it.
	sent          *variant
	err           error
	held          string // the hash that the gateway said last
	loaded, bytes int
}

// isolations bounds how often a gateway is asked to take less in one round.
const isolations = 5

// run sees to it that the gateway holds what is wanted, or that without what it refuses and all that would be wrong without it.
func (p *pushing) run(ctx context.Context) error {
	if time.Since(p.doc.since) > p.driver.o.RetryEvery {
		p.doc.since = time.Now()
		if len(p.doc.refused) > 0 {
			p.doc.wanted, p.doc.refused = "", map[entity.Place]plan.Refusal{}
		}
	}
	if p.doc.accepted != nil && p.doc.wanted == p.wanted.whole.hash {
		return p.load(ctx, p.doc.accepted)
	}
	for try := 1; ; try++ {
		v := p.variant()
		push, err := p.try(ctx, v)
		if err == nil {
			p.driver.o.Pushed(push)
			p.doc.wanted, p.doc.accepted, p.doc.good = p.wanted.whole.hash, v, nil
			return nil
		}
		var culprits []entity.Fault
		if isolable(err) {
			p.recall(ctx)
			culprits = p.culprits(ctx, v.state, err)
			push.Broken = max(push.Broken, len(culprits))
		}
		p.driver.o.Pushed(push)
		p.driver.failed(p.gateway, v, err)
		if try == isolations || !p.learn(v, culprits) {
			return err
		}
	}
}

// learn notes what a document was refused for, and tells whether less of it can be tried.
func (p *pushing) learn(v *variant, culprits []entity.Fault) bool {
	news := false
	for _, f := range culprits {
		place := entity.PlaceOf(f.Entity)
		e := p.wanted.entities()[place]
		switch {
		case v.restored[place]: // what was good once is no longer
			delete(p.goodForms(), place)
		case e == nil:
			continue // what stands for another cannot be left out
		default:
			p.doc.refused[place] = plan.Refusal{Print: p.print(e), Reason: f.Reason}
		}
		news = true
	}
	return news
}

func (p *pushing) print(e entity.Entity) string { return plan.Print(p.driver.labels.Tags(e)) }

// isolable tells whether a failure is about the document, so that less of it may be taken.
func isolable(err error) bool {
	failure := new(admin.Error)
	return errors.As(err, &failure) && (failure.Status == http.StatusBadRequest || failure.Status == http.StatusInternalServerError)
}

// load sees to it that the gateway holds a document.
func (p *pushing) load(ctx context.Context, v *variant) error {
	push, err := p.try(ctx, v)
	p.driver.o.Pushed(push)
	return err
}

// try is load, but leaves it to the caller to tell of the push.
func (p *pushing) try(ctx context.Context, v *variant) (Push, error) {
	begin, d, g := time.Now(), p.driver, p.gateway
	p.sent = v
	has, err := g.client.Hash(ctx)
	p.held = has
	push := Push{Gateway: g.endpoint.URL, Broken: len(v.faults), Refused: byKind(v.faults), Fallback: v.fallback}
	if err == nil && has == v.hash {
		d.holds(g, v)
		push.Hash = v.hash
		return push, nil
	}
	news := false
	if err == nil {
		push.Requests = 1
		news, err = g.client.Load(ctx, v.text)
	}
	push.Took, push.Err = time.Since(begin), err
	if err != nil {
		if passing(err) && !isolable(err) {
			d.lost(g, err)
		}
		return push, tooLarge(err, len(v.text))
	}
	d.holds(g, v)
	p.held = v.hash
	push.Set, push.Bytes, push.Hash = 1, len(v.text), v.hash
	if news {
		p.loaded++
		p.bytes += len(v.text)
	}
	return push, nil
}

// tooLarge says what an admin can do about a document that is.
func tooLarge(err error, size int) error {
	failure := new(admin.Error)
	if errors.As(err, &failure) && failure.Status == http.StatusRequestEntityTooLarge {
		return fmt.Errorf("the document has %d bytes, more than the gateway takes; raise its admin body size and mem_cache_size: %w", size, err)
	}
	return err
}
