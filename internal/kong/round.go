// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
	"github.com/fairway-ingress/fairway/internal/model"
)

// round writes to a database once it is known what that holds.
type round struct {
	driver   *Driver
	database *database
	gateway  *gateway
	push     *Push
	// carried counts the operations of the last plan that were carried out.
	carried int
	// waiting are Problems of those that wait for something that was refused.
	waiting []model.Problem
}

// faults are refused entities by place.
type faults map[entity.Place]entity.Fault

// run plans and executes until nothing is refused without which a route must not be open. It gives what is refused of the wanted.
func (r *round) run(ctx context.Context, wanted *entity.State) ([]entity.Fault, error) {
	found := faults{}
	for range rounds {
		closed := r.closed(wanted)
		maps.Copy(found, closed)
		out := map[entity.Place]bool{}
		for place := range closed {
			out[place] = true
		}
		r.waiting = nil
		operations := plan.Diff(r.database.held, plan.Exclude(wanted, out), r.driver.labels, r.database.refused)
		err := r.execute(ctx, operations, found)
		if err == nil && r.carried == len(operations) {
			r.database.held.Settle()
		}
		if err != nil || len(r.closed(wanted)) == len(closed) {
			return slices.Collect(maps.Values(found)), err
		}
	}
	return slices.Collect(maps.Values(found)), errors.New("more and more plugins are refused")
}

// closed gives the plugins that were refused, are not held in an older form, and without which nobody may pass.
func (r *round) closed(wanted *entity.State) faults {
	closed := faults{}
	if len(r.database.refused) == 0 {
		return closed
	}
	for _, e := range wanted.Entities {
		p, ok := e.(*entity.Plugin)
		if !ok || !plan.Guards(p) {
			continue
		}
		place := entity.PlaceOf(e)
		refusal, known := r.database.refused[place]
		if known && r.database.held.At(place) == nil && refusal.Print == plan.Print(r.driver.labels.Tags(e)) {
			closed[place] = entity.Fault{Entity: e, Reason: refusal.Reason}
		}
	}
	return closed
}

// execute carries a plan out and notes what is refused. The error says what has to be tried again.
func (r *round) execute(ctx context.Context, operations []*plan.Operation, found faults) error {
	r.carried = 0
	x := &execution{client: r.gateway.client, done: r.done}
	x.execute(ctx, operations, writers)
	r.push.Requests += x.requests
	r.push.Bytes += x.bytes
	var errs []error
	for _, o := range operations {
		err := x.failures[o]
		reason := refusal(err)
		place := entity.Place{Kind: o.Kind.Name, ID: o.ID}
		switch {
		case err == nil:
			r.tellBlocked(o, x.blocked[o])
		case reason == "":
			errs = append(errs, fmt.Errorf("%s: %w", o, err))
		case o.Entity == nil:
			r.database.refused[place] = plan.Refusal{Reason: reason}
			if o.Refused == "" {
				r.driver.o.Log.Warn("an entity that is no longer wanted stays in Kong", "kind", o.Kind.Singular, "id", o.ID, "reason", reason)
			}
		default:
			r.database.refused[place] = plan.Refusal{Print: plan.Print(r.driver.labels.Tags(o.Entity)), Reason: reason}
			found[place] = entity.Fault{Entity: o.Entity, Reason: reason}
		}
	}
	return r.doubt(errs)
}

// refusal says why Kong will not take an entity however often it is asked, or "".
func refusal(err error) string {
	var known errRefused
	if errors.As(err, &known) {
		return known.reason
	}
	failure := new(admin.Error)
	if errors.Is(err, errMoved) || !errors.As(err, &failure) {
		return ""
	}
	switch failure.Class {
	case admin.Conflict:
		return "something else in Kong, which is not managed here, has what must be unique: " + failure.Reason()
	case admin.Invalid, admin.Reference:
		return failure.Reason()
	}
	return ""
}

// mostTold bounds the errors that are told one by one.
const mostTold = 3

// doubt gives the errors as one. Where they leave open what the gateway holds, that is read again before the next round.
func (r *round) doubt(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	for _, err := range errs {
		failure := new(admin.Error)
		if errors.As(err, &failure) && failure.Class == admin.Transport {
			r.driver.lost(r.gateway, failure)
		}
	}
	r.driver.database = nil
	if n := len(errs); n > mostTold {
		errs = append(errs[:mostTold:mostTold], fmt.Errorf("and %d more", n-mostTold))
	}
	return errors.Join(errs...)
}

// done notes what was carried out; what goes with a deleted entity is gone as well.
func (r *round) done(o *plan.Operation) {
	r.carried++
	place := entity.Place{Kind: o.Kind.Name, ID: o.ID}
	delete(r.database.refused, place)
	if h := o.Result(); h != nil {
		r.database.held.Put(h)
		r.push.Set++
		return
	}
	r.push.Deleted++
	r.database.held.Remove(place)
}

// tellBlocked adds a Problem for an entity that waits for one of another object.
func (r *round) tellBlocked(o, blocker *plan.Operation) {
	if blocker == nil || o.Entity == nil || blocker.Entity == nil {
		return
	}
	m, other := o.Entity.Common(), blocker.Entity.Common()
	if m.Owner == other.Owner {
		return // who has the one Problem need not have the other
	}
	r.waiting = append(r.waiting, model.Problem{
		Object: m.Owner, Field: m.Field, Reason: entity.ReasonRefused,
		Message: fmt.Sprintf("Kong's %s %s is not written, because %s %s of %s is refused; its last good form stays in force, if there is one",
			o.Kind.Singular, entity.Name(o.Entity), blocker.Kind.Singular, entity.Name(blocker.Entity), other.Owner),
	})
}
