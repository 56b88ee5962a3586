// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/plan"
)

// execution carries out a graph of operations. One goroutine decides, others send.
type execution struct {
	client *admin.Client
	// done is called after each operation that was carried out.
	done func(*plan.Operation)

	waiting    map[*plan.Operation]int
	dependents map[*plan.Operation][]*plan.Operation
	failures   map[*plan.Operation]error // of those that were sent, or refused before
	blocked    map[*plan.Operation]*plan.Operation
	requests   int
	bytes      int
}

// errRefused is the failure of operations that are not tried again.
type errRefused struct{ reason string }

func (e errRefused) Error() string { return e.reason }

// errMoved says that what Kong holds is not what we thought.
var errMoved = errors.New("what the gateway holds has changed")

// ended is an operation that is over.
type ended struct {
	operation *plan.Operation
	err       error
}

// execute carries the operations out as far as it gets. At most limit are under way at once.
func (x *execution) execute(ctx context.Context, operations []*plan.Operation, limit int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x.waiting, x.dependents = map[*plan.Operation]int{}, map[*plan.Operation][]*plan.Operation{}
	x.failures, x.blocked = map[*plan.Operation]error{}, map[*plan.Operation]*plan.Operation{}
	var ready []*plan.Operation
	for _, o := range operations {
		for _, list := range [][]*plan.Operation{o.After, o.Behind} {
			for _, other := range list {
				x.waiting[o]++
				x.dependents[other] = append(x.dependents[other], o)
			}
		}
		if x.waiting[o] == 0 {
			ready = append(ready, o)
		}
	}
	results := make(chan ended)
	under := 0
	for len(ready) > 0 || under > 0 {
		for len(ready) > 0 && under < limit {
			o := ready[0]
			ready = ready[1:]
			under++
			go func() { results <- ended{o, x.attempt(ctx, o)} }()
		}
		e := <-results
		under--
		ready = append(ready, x.settle(e)...)
		failure := new(admin.Error)
		if errors.As(e.err, &failure) && failure.Class == admin.Auth {
			cancel() // nothing else will be taken either
		}
	}
}

// attempt sends an operation unless it is known to be refused or waits in vain.
func (x *execution) attempt(ctx context.Context, o *plan.Operation) error {
	if o.Refused != "" {
		return errRefused{o.Refused}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return carry(ctx, x.client, o)
}

// settle notes what came of an operation and gives those that need not wait any longer. Those that needed it to succeed are blocked, and what
// needs them.
func (x *execution) settle(e ended) []*plan.Operation {
	if e.err != nil {
		x.failures[e.operation] = e.err
	}
	if _, known := e.err.(errRefused); !known { //nolint:errorlint // never wrapped
		x.requests++
		x.bytes += len(e.operation.Body)
	}
	if e.err == nil {
		x.done(e.operation)
	}
	return x.release(e.operation, e.err != nil)
}

// release tells those who wait for an operation that it is over.
func (x *execution) release(over *plan.Operation, failed bool) []*plan.Operation {
	var ready []*plan.Operation
	for _, o := range x.dependents[over] {
		x.waiting[o]--
		if failed && x.blocked[o] == nil && needs(o, over) {
			x.blocked[o] = over
		}
		if x.waiting[o] > 0 {
			continue
		}
		if x.blocked[o] != nil {
			ready = append(ready, x.release(o, true)...)
			continue
		}
		ready = append(ready, o)
	}
	return ready
}

func needs(o, other *plan.Operation) bool {
	for _, a := range o.After {
		if a == other {
			return true
		}
	}
	return false
}

// carry sends one operation.
func carry(ctx context.Context, client *admin.Client, o *plan.Operation) error {
	at := admin.Address{Kind: o.Kind, ID: o.ID, Parent: o.Parent}
	switch {
	case o.Kind == entity.Memberships:
		return carryMembership(ctx, client, at, o)
	case o.Verb == plan.Delete:
		return client.Delete(ctx, at)
	case o.Verb == plan.Create && o.Kind.Path == "":
		return createTarget(ctx, client, at, o)
	case o.Verb == plan.Connect || o.Verb == plan.Park || o.Verb == plan.Update && patched(o):
		_, err := client.Patch(ctx, at, o.Body)
		return moved(err)
	}
	_, err := client.Put(ctx, at, o.Body)
	return err
}

// carryMembership sends one that is about a consumer's membership in a group, which is there or not, and nothing between. One that is there already,
// because an answer was lost, is in order.
func carryMembership(ctx context.Context, client *admin.Client, at admin.Address, o *plan.Operation) error {
	if o.Verb == plan.Delete {
		at.ID = o.Member
		return client.Delete(ctx, at)
	}
	body, err := json.Marshal(map[string]string{"consumer": entity.Text(o.Entity, "consumer")})
	if err != nil {
		return err
	}
	_, err = client.Post(ctx, at, body)
	failure := new(admin.Error)
	if errors.As(err, &failure) && failure.Class == admin.Conflict {
		return nil
	}
	return moved(err)
}

// patched tells whether an entity is changed by PATCH: PUT would take the SNIs of a certificate, and knows no new targets.
func patched(o *plan.Operation) bool { return o.Kind.Path == "" || o.Kind.Name == "certificates" }

func moved(err error) error {
	failure := new(admin.Error)
	if errors.As(err, &failure) && failure.Class == admin.Gone {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

// createTarget posts a target. One that is there already, because an answer was lost, is changed; Kong 2.8 answers with the one that has the address.
func createTarget(ctx context.Context, client *admin.Client, at admin.Address, o *plan.Operation) error {
	record, err := client.Post(ctx, at, o.Body)
	failure := new(admin.Error)
	switch {
	case errors.As(err, &failure) && failure.Class == admin.Conflict:
		_, patchErr := client.Patch(ctx, at, o.Body)
		if errors.As(patchErr, &failure) && failure.Class == admin.Gone {
			return err // somebody else's target has the address
		}
		return patchErr
	case err != nil:
		return moved(err)
	case record.ID() != o.ID:
		return fmt.Errorf("%w: target %s has the id %s", errMoved, record.Text("target"), record.ID())
	}
	return nil
}
