// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"context"
	"crypto/md5" //nolint:gosec // what Kong names a configuration by
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
	"github.com/fairway-ingress/fairway/internal/model"
)

// document is what gateways without a database that are alike are to hold.
type document struct {
	// wanted names the document as it would be without refusals, accepted the one that was taken, with what it leaves out.
	wanted   string
	accepted []byte
	faults   []entity.Fault
	// state is what the accepted document was made from.
	state *entity.State
	// refused are versions of entities that were not taken, by place; they are tried again at the next verification.
	refused map[entity.Place]plan.Refusal
	at      time.Time
}

// hashOf is the name that Kong gives a document that is sent as text.
func hashOf(document []byte) string {
	sum := md5.Sum(document) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// likeness is the same for gateways that are given the same document.
func likeness(g *entity.Gateway) string { return fmt.Sprintf("%+v", *g) }

// applyDocuments gives every gateway its document. Of those that are alike the first tells what is refused, and the others get what it took.
func (d *Driver) applyDocuments(ctx context.Context, ready []*gateway, m *model.Model) (model.Change, []model.Problem, error) {
	groups, order := map[string][]*gateway{}, []string{}
	for _, g := range ready {
		name := likeness(g.about)
		if groups[name] == nil {
			order = append(order, name)
		}
		groups[name] = append(groups[name], g)
	}
	var total model.Change
	var problems []model.Problem
	var errs []error
	for _, name := range order {
		change, found, err := d.applyDocument(ctx, name, groups[name], m)
		total.Set += change.Set
		total.Bytes += change.Bytes
		problems = append(problems, found...)
		errs = append(errs, err)
	}
	for name := range d.documents {
		if groups[name] == nil {
			delete(d.documents, name)
		}
	}
	return total, problems, errors.Join(errs...)
}

// applyDocument does so for gateways that are alike.
func (d *Driver) applyDocument(ctx context.Context, name string, group []*gateway, m *model.Model) (model.Change, []model.Problem, error) {
	about := group[0].about
	state, problems := d.o.Translate(m, about)
	wanted := hashOf(state.Document(about.Version, entity.Flat))
	doc := d.documents[name]
	if doc == nil || time.Since(doc.at) > d.o.VerifyEvery {
		doc = &document{refused: map[entity.Place]plan.Refusal{}, at: time.Now()}
	}
	p := &pushing{driver: d, doc: doc, about: about}
	if doc.wanted != wanted || doc.accepted == nil {
		if err := p.prove(ctx, group[0], state, wanted); err != nil {
			d.noteVerified()
			return p.change(), append(problems, problemsOf(p.doc.faults)...), fmt.Errorf("gateway %s: %w", group[0].endpoint.URL, err)
		}
		d.documents[name] = doc
	}
	d.noteVerified()
	err := p.all(ctx, group)
	return p.change(), append(problems, problemsOf(doc.faults)...), err
}

func (d *Driver) noteVerified() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.verified.IsZero() || time.Since(d.verified) > d.o.VerifyEvery {
		d.verified = time.Now()
	}
}

func problemsOf(faults []entity.Fault) []model.Problem {
	var problems []model.Problem
	for _, f := range faults {
		consequence := "everything else is in force"
		if p, ok := f.Entity.(*entity.Plugin); ok && plan.Guards(p) {
			consequence = "what it should protect answers 503"
		}
		problems = append(problems, f.Problem(consequence))
	}
	return problems
}

// pushing is one call of applyDocument.
type pushing struct {
	driver *Driver
	doc    *document
	about  *entity.Gateway

	mu     sync.Mutex // guards what follows
	loaded int
	bytes  int
}

func (p *pushing) change() model.Change { return model.Change{Set: p.loaded, Bytes: p.bytes} }

// isolations bounds how often a gateway is asked to take less in one round.
const isolations = 5

// prove finds the document that a gateway takes: the wanted one, or that without what is refused and all that would be wrong without it.
func (p *pushing) prove(ctx context.Context, g *gateway, state *entity.State, wanted string) error {
	sound, faults := plan.Sound(state)
	out, known := p.knownRefusals(sound)
	faults = append(faults, known...)
	sound = plan.Exclude(sound, out)
	for try := 1; ; try++ {
		text := sound.Document(p.about.Version, entity.Flat)
		err := p.load(ctx, g, text, len(faults))
		if err == nil {
			p.doc.wanted, p.doc.accepted, p.doc.state, p.doc.faults = wanted, text, sound, faults
			return nil
		}
		p.doc.faults = faults
		if try == isolations || !isolable(err) {
			return err
		}
		culprits := p.culprits(ctx, g, sound, err)
		if len(culprits) == 0 {
			return err
		}
		out := map[entity.Place]bool{}
		for _, f := range culprits {
			out[entity.PlaceOf(f.Entity)] = true
			p.doc.refused[entity.PlaceOf(f.Entity)] = plan.Refusal{Print: p.print(f.Entity), Reason: f.Reason}
		}
		faults = append(faults, culprits...)
		sound = plan.Exclude(sound, out)
	}
}

func (p *pushing) print(e entity.Entity) string { return plan.Print(p.driver.labels.Tags(e)) }

// knownRefusals gives what was refused before and is the same still.
func (p *pushing) knownRefusals(state *entity.State) (map[entity.Place]bool, []entity.Fault) {
	out := map[entity.Place]bool{}
	var faults []entity.Fault
	if len(p.doc.refused) == 0 {
		return out, nil
	}
	for _, e := range state.Entities {
		if r, known := p.doc.refused[entity.PlaceOf(e)]; known && r.Print == p.print(e) {
			out[entity.PlaceOf(e)] = true
			faults = append(faults, entity.Fault{Entity: e, Reason: r.Reason})
		}
	}
	return out, faults
}

// isolable tells whether a failure is about the document, so that less of it may be taken.
func isolable(err error) bool {
	failure := new(admin.Error)
	return errors.As(err, &failure) && (failure.Status == http.StatusBadRequest || failure.Status == http.StatusInternalServerError)
}

// all gives the accepted document to every gateway that does not hold it.
func (p *pushing) all(ctx context.Context, group []*gateway) error {
	var wait sync.WaitGroup
	errs := make([]error, len(group))
	for i, g := range group {
		wait.Go(func() {
			if err := p.load(ctx, g, p.doc.accepted, len(p.doc.faults)); err != nil {
				errs[i] = fmt.Errorf("gateway %s: %w", g.endpoint.URL, err)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// load sees to it that a gateway holds a document.
func (p *pushing) load(ctx context.Context, g *gateway, text []byte, broken int) error {
	begin, d := time.Now(), p.driver
	want := hashOf(text)
	has, err := g.client.Hash(ctx)
	if err == nil && has == want {
		d.holds(g, want, true)
		return nil
	}
	news := false
	if err == nil {
		news, err = g.client.Load(ctx, text)
	}
	push := Push{Gateway: g.endpoint.URL, Took: time.Since(begin), Requests: 1, Broken: broken, Err: err}
	if err != nil {
		d.o.Pushed(push)
		if passing(err) && !isolable(err) {
			d.lost(g, err)
		}
		return tooLarge(err, len(text))
	}
	d.holds(g, want, true)
	push.Set, push.Bytes, push.Hash = 1, len(text), want
	d.o.Pushed(push)
	p.mu.Lock()
	defer p.mu.Unlock()
	if news {
		p.loaded++
		p.bytes += len(text)
	}
	return nil
}

// tooLarge says what an admin can do about a document that is.
func tooLarge(err error, size int) error {
	failure := new(admin.Error)
	if errors.As(err, &failure) && failure.Status == http.StatusRequestEntityTooLarge {
		return fmt.Errorf("the document has %d bytes, more than the gateway takes; raise its admin body size and mem_cache_size: %w", size, err)
	}
	return err
}
