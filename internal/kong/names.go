// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// lastNames keeps TLS server names with their last good certificate while the Secret that they are claimed with holds none: for as long as they are
// claimed. What was good is remembered by the state of the last round, and after a restart read from a gateway.
type lastNames struct {
	mu sync.Mutex // guards what follows
	// last is the state of the last round, nil where nothing is known; it has what was kept.
	last *entity.State
	// result is what came of from and lost.
	from, result *entity.State
	lost         []model.KongLostName
}

// forget is for a replica that does not write any more: somebody else does.
func (n *lastNames) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last, n.from, n.result, n.lost = nil, nil, nil, nil
}

func lostNames(m *model.Model) []model.KongLostName {
	if m.Kong == nil {
		return nil
	}
	return m.Kong.LostNames
}

// keepNames adds to a state the server names whose certificate is lost, with the last that was good.
func (d *Driver) keepNames(ctx context.Context, ready []*gateway, m *model.Model, state *entity.State) (*entity.State, error) {
	n, lost := &d.names, lostNames(m)
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(lost) == 0 {
		n.last, n.from, n.result, n.lost = state, nil, nil, nil
		return state, nil
	}
	if n.from == state && slices.Equal(n.lost, lost) {
		return n.result, nil
	}
	if n.last == nil {
		last, err := d.recallNames(ctx, ready)
		if err != nil {
			return nil, err
		}
		n.last = last
	}
	n.from, n.lost, n.result = state, lost, withNames(n.last, state, lost)
	n.last = n.result
	return n.result, nil
}

// shown is what keepNames gives as far as is known without asking anybody.
func (n *lastNames) shown(m *model.Model, state *entity.State) *entity.State {
	n.mu.Lock()
	defer n.mu.Unlock()
	lost := lostNames(m)
	if len(lost) == 0 || n.last == nil {
		return state
	}
	return withNames(n.last, state, lost)
}

// recallNames reads certificates and server names from a gateway.
func (d *Driver) recallNames(ctx context.Context, ready []*gateway) (*entity.State, error) {
	for _, g := range ready {
		var document []byte
		var err error
		if g.about.Database {
			document, err = d.readNames(ctx, g)
		} else if document, err = g.client.Document(ctx); err == nil && g.hash == admin.NoHash {
			continue // it is new, or was restarted; another may know more
		}
		if passing(err) {
			d.lost(g, err)
			return nil, fmt.Errorf("read the certificates of gateway %s: %w", g.endpoint.URL, err)
		}
		var state *entity.State
		if err == nil {
			state, err = entity.ReadDocument(document)
		}
		if err != nil {
			d.o.Log.Warn("what the gateway holds cannot be read, so that lost certificates are not kept", "gateway", g.endpoint.URL, "err", err)
			continue
		}
		return state, nil
	}
	return &entity.State{}, nil
}

// readNames reads those of ours in a database.
func (d *Driver) readNames(ctx context.Context, g *gateway) ([]byte, error) {
	found := map[string][]admin.Record{}
	for _, kind := range []*entity.Kind{entity.Certificates, entity.SNIs} {
		records, err := g.client.List(ctx, kind, "", d.o.Tag)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			r["tags"] = d.labels.Source(r.Tags())
		}
		found[kind.Name] = records
	}
	return json.Marshal(found)
}

// withNames gives a state with the lost names as the last one has them. A name that a younger object claims meanwhile goes back to the older one.
// What the last state kept already is the same pointer.
func withNames(last, state *entity.State, lost []model.KongLostName) *entity.State {
	var old, now certificateTable
	old.read(last)
	now.read(state)
	var changes []entity.Change
	put := func(e entity.Entity) { changes = append(changes, entity.Change{Place: entity.PlaceOf(e), Entity: e}) }
	kept := map[string]bool{}
	for _, l := range lost {
		names := []string{l.Name}
		if l.Name == "" {
			names = old.of(l.Secret)
		}
		for _, name := range names {
			sni := old.names[name]
			if sni == nil || kept[name] || !isOf(sni, l.Secret) || old.certificate(sni) == nil {
				continue
			}
			kept[name] = true
			c := now.fit(old.certificate(sni), l)
			if now.certificates[c.ID] == nil {
				now.certificates[c.ID] = c
				put(c)
			}
			if younger := now.names[name]; younger != nil && younger.ID != sni.ID {
				changes = append(changes, entity.Change{Place: entity.PlaceOf(younger)})
			}
			put(keepSNI(sni, c, l))
		}
	}
	return state.With(changes)
}

// keepSNI gives a server name with its certificate in the name of who claims it: itself, where it is that already.
func keepSNI(sni *entity.SNI, c *entity.Certificate, l model.KongLostName) *entity.SNI {
	if sni.Owner == l.Owner && sni.Field == l.Field && sni.Certificate.ID == c.ID {
		return sni
	}
	again := *sni
	again.Owner, again.Field, again.Certificate = l.Owner, l.Field, entity.RefTo(c)
	return &again
}

// certificateTable has the certificates of a state, and who has which name.
type certificateTable struct {
	names        map[string]*entity.SNI
	certificates map[string]*entity.Certificate // by id
}

func (t *certificateTable) read(s *entity.State) {
	t.names, t.certificates = map[string]*entity.SNI{}, map[string]*entity.Certificate{}
	for _, e := range s.Entities {
		switch e := e.(type) {
		case *entity.SNI:
			t.names[e.Name] = e
		case *entity.Certificate:
			t.certificates[e.ID] = e
		}
	}
}

func (t *certificateTable) certificate(sni *entity.SNI) *entity.Certificate {
	if sni.Certificate == nil {
		return nil
	}
	return t.certificates[sni.Certificate.ID]
}

// of gives the names that are claimed with a Secret, sorted.
func (t *certificateTable) of(secret model.Ref) []string {
	var names []string
	for name, sni := range t.names {
		if isOf(sni, secret) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fit gives a certificate as it can stand among the others: under another id where its own has another content by now, as when two Secrets held
// the same and one of them was renewed.
func (t *certificateTable) fit(c *entity.Certificate, l model.KongLostName) *entity.Certificate {
	again := *c
	if same := t.certificates[c.ID]; same != nil && same.Cert != c.Cert {
		sum := sha256.Sum256([]byte(c.Cert))
		again.ID = entity.NewID(entity.Certificates, "kept/"+hex.EncodeToString(sum[:]))
	}
	if same := t.certificates[again.ID]; same != nil {
		return same
	}
	if c.ID == again.ID && c.Owner != (model.Ref{}) {
		return c
	}
	again.Owner, again.Field = l.Owner, l.Field
	return &again
}

// isOf tells whether the tags of an entity say that it comes from a Secret.
func isOf(e entity.Entity, secret model.Ref) bool {
	for _, tag := range []string{"k8s-kind:Secret", "k8s-namespace:" + secret.Namespace, "k8s-name:" + secret.Name} {
		if !slices.Contains(e.Common().Tags, entity.Tag(tag)) {
			return false
		}
	}
	return true
}
