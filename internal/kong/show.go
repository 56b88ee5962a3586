// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Shown is what people are shown of gateways.
type Shown struct {
	// Document is a declarative document without what is secret; nil where changes are shown.
	Document []byte
	// Changes are lines of what would change, sorted, by gateway.
	Changes []string
}

// Print writes it as text.
func (s Shown) Print(w io.Writer) {
	if s.Document != nil {
		_, _ = w.Write(s.Document) // whoever reads has gone
		return
	}
	if len(s.Changes) == 0 {
		fmt.Fprintln(w, "nothing would change")
	}
	for _, line := range s.Changes {
		fmt.Fprintln(w, line)
	}
}

// JSON gives it for programs.
func (s Shown) JSON() []byte {
	if s.Document != nil {
		return s.Document
	}
	text, err := json.Marshal(append([]string{}, s.Changes...))
	if err != nil {
		panic(fmt.Sprintf("kong: lines of text: %v", err))
	}
	return append(text, '\n')
}

// errNoModel is for those who ask too early.
var errNoModel = errors.New("no gateway has answered yet, or nothing was built")

// now gives what is wanted at this moment, and the gateways.
func (d *Driver) now() (*model.Model, []*gateway, error) {
	ready := d.ready()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil || len(ready) == 0 {
		return nil, nil, errNoModel
	}
	return d.last, ready, nil
}

// State gives what the first gateway is to hold.
func (d *Driver) State() (Shown, error) {
	m, ready, err := d.now()
	if err != nil {
		return Shown{}, err
	}
	state, _ := d.o.Translate(m, ready[0].about)
	return Shown{Document: state.Document(ready[0].about.Version, entity.Redacted)}, nil
}

// Diff compares what the gateways hold with what they should, in depth. Nothing is changed.
func (d *Driver) Diff(ctx context.Context) (Shown, error) {
	m, ready, err := d.now()
	if err != nil {
		return Shown{}, err
	}
	state, _ := d.o.Translate(m, ready[0].about)
	wanted, faults := plan.Sound(state)
	shown := Shown{Changes: []string{}}
	for _, f := range faults {
		shown.Changes = append(shown.Changes, fmt.Sprintf("left out: %s %s: %s", f.Entity.Kind().Singular, entity.Name(f.Entity), f.Reason))
	}
	if !ready[0].about.Database {
		err := d.differing(ctx, ready, &shown)
		return shown, err
	}
	held, _, err := d.dump(ctx, ready[0], wanted, true)
	if err != nil {
		return Shown{}, err
	}
	for _, o := range plan.Diff(held, wanted, d.labels, nil) {
		shown.Changes = append(shown.Changes, o.String())
	}
	slices.Sort(shown.Changes)
	return shown, nil
}

// differing names the gateways without a database that do not hold what they should, by the hashes.
func (d *Driver) differing(ctx context.Context, ready []*gateway, shown *Shown) error {
	for _, g := range ready {
		hash, err := g.client.Hash(ctx)
		if err != nil {
			return err
		}
		if hash != g.want {
			was := "another configuration"
			if strings.Trim(hash, "0") == "" {
				was = "nothing"
			}
			shown.Changes = append(shown.Changes, fmt.Sprintf("%s: load the whole configuration; it holds %s", g.endpoint.URL, was))
		}
	}
	return nil
}
