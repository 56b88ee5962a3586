// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// attempt is a state that was sent to a gateway, and what became of it.
type attempt struct {
	v   *variant
	err error
}

// failed notes what a gateway did not take, or not all of it, if somebody may ask for that.
func (d *Driver) failed(g *gateway, v *variant, err error) {
	if !d.o.KeepFailed {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, known := range d.gateways {
		if known.endpoint == g.endpoint {
			known.failed = &attempt{v, err}
		}
	}
}

// Dump names a state of a gateway.
type Dump uint8

// The states that can be dumped.
const (
	// Successful is the last that the gateway took.
	Successful Dump = iota
	// Failed is the last that it did not take, or not all of it.
	Failed
	// Fallback says what is refused and what is in force in its place.
	Fallback
	// RawError is what the gateway said of the last that it did not take.
	RawError
)

// errNothing says that there is nothing to dump.
var errNothing = errors.New("there is no such configuration")

// errUnknownGateway is for those who ask about a gateway that there is not.
var errUnknownGateway = errors.New("no such gateway")

// Dump gives a state as JSON; RawError is text. The gateway is named by the URL of its Admin API; empty stands for the first. What is secret is shown
// only when that is asked for.
func (d *Driver) Dump(url string, what Dump, secrets bool) ([]byte, error) {
	d.mu.Lock()
	var g *gateway
	for _, known := range d.gateways {
		if g == nil && (url == "" || url == known.endpoint.URL) {
			g = &gateway{endpoint: known.endpoint, about: known.about, took: known.took, failed: known.failed}
		}
	}
	d.mu.Unlock()
	switch {
	case g == nil:
		return nil, errUnknownGateway
	case what == Fallback:
		return g.fallback()
	case what == Successful && g.took != nil:
		return d.configuration(g.took, secrets)
	case what == Failed && g.failed != nil:
		return d.configuration(g.failed.v, secrets)
	case what == RawError && g.failed != nil:
		return []byte(g.failed.err.Error() + "\n"), nil
	}
	return nil, errNothing
}

// configuration writes a document and its name.
func (d *Driver) configuration(v *variant, secrets bool) ([]byte, error) {
	form := entity.Redacted
	if secrets {
		form = entity.Flat
	}
	return json.Marshal(struct {
		Hash   string          `json:"hash"`
		Config json.RawMessage `json:"config"`
	}{v.hash, v.state.Document(v.version, form)})
}

// brokenObject is an object of the cluster some of which is refused.
type brokenObject struct {
	Kind        string `json:"kind"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name"`
	Entity      string `json:"entity"`
	Reason      string `json:"reason"`
	Consequence string `json:"consequence"`
}

// fallback lists what is refused: left out, or in force as it was before.
func (g *gateway) fallback() ([]byte, error) {
	out := struct {
		Status string         `json:"status"`
		Broken []brokenObject `json:"brokenObjects"`
		Left   []brokenObject `json:"excludedObjects"`
		Kept   []brokenObject `json:"backfilledObjects"`
	}{Status: "not-triggered", Broken: []brokenObject{}, Left: []brokenObject{}, Kept: []brokenObject{}}
	if g.took != nil && g.took.fallback {
		out.Status = "triggered"
		for _, f := range g.took.faults {
			owner := f.Entity.Common().Owner
			b := brokenObject{
				owner.Kind, owner.Namespace, owner.Name, fmt.Sprintf("%s %s", f.Entity.Kind().Singular, entity.Name(f.Entity)), f.Reason, f.consequence,
			}
			out.Broken = append(out.Broken, b)
			if f.consequence == lastInForce {
				out.Kept = append(out.Kept, b)
			} else {
				out.Left = append(out.Left, b)
			}
		}
	}
	return json.Marshal(out)
}
