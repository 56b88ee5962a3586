// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// Source is where objects come from.
type Source interface {
	// Run follows changes until ctx ends; an error means that it can't.
	Run(ctx context.Context) error
	// Synced is closed when Snapshot holds everything that there was at the start.
	Synced() <-chan struct{}
	// Changed sends a value after Snapshot has changed; several changes may be one value.
	Changed() <-chan struct{}
	Snapshot() *source.Snapshot
}

// Resolver follows the addresses of names.
type Resolver interface {
	Run(ctx context.Context) error
	Want(names []string)
	Pending() bool
	Changed() <-chan struct{}
	Addresses() map[string][]netip.Addr
}

// Loop is the controller. Its fields are set before Run and not changed afterwards.
type Loop struct {
	Source   Source
	Resolver Resolver
	Builder  *ingress.Builder
	Driver   Driver
	Metrics  *metrics.Metrics
	Log      *slog.Logger

	state atomic.Pointer[State]
}

// State is what the loop knows after a round. It is never modified.
type State struct {
	// Ready tells whether the data plane has served, since it was first true, everything that the source held at the start.
	Ready bool
	// Result and Snapshot are those of the last round, Change what the driver did, Err why it did not succeed.
	Snapshot *source.Snapshot
	Result   *ingress.Result
	Change   model.Change
	Err      error
	At       time.Time
}

// State gives the last state; before the first round an empty one.
func (l *Loop) State() *State {
	if s := l.state.Load(); s != nil {
		return s
	}
	return &State{}
}

const (
	// firstNames is how long the first round waits for the addresses of ExternalName Services.
	firstNames = 2 * time.Second
	retryMin   = 100 * time.Millisecond
	retryMax   = 10 * time.Second
)

// Run runs source, resolver, driver and loop until ctx ends or one of them gives up.
func (l *Loop) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := map[string]func(context.Context) error{
		"source": l.Source.Run, "resolver": l.Resolver.Run, "driver": l.Driver.Run, "loop": l.loop,
	}
	ended := make(chan error)
	for name, run := range parts {
		go func() {
			err := run(ctx)
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			ended <- err
		}()
	}
	var errs []error
	for range parts {
		err := <-ended
		cancel(err) // one part alone is of no use
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// loop is the one goroutine that builds and applies.
func (l *Loop) loop(ctx context.Context) error {
	select {
	case <-l.Source.Synced():
	case <-ctx.Done():
		return nil
	}
	l.awaitNames(ctx)
	retry := retryMin
	for ctx.Err() == nil {
		begin := time.Now()
		err := l.round(ctx)
		var again <-chan time.Time
		if err != nil && ctx.Err() == nil {
			l.Log.Error("change is not in force, the last good state keeps serving", "err", err, "retry", retry)
			again = time.After(retry)
			retry = min(2*retry, retryMax)
		} else {
			retry = retryMin
		}
		// Under a storm of changes at least half of the time is left to others.
		pause := time.Since(begin)
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case <-l.Source.Changed():
		case <-l.Resolver.Changed():
		case <-l.Driver.Restarted():
		}
		if since := time.Since(begin); since < 2*pause {
			sleep(ctx, min(2*pause-since, 100*time.Millisecond))
		}
	}
	return nil
}

// awaitNames gives the resolver a moment, so that ExternalName Services don't answer 503 right after the start.
func (l *Loop) awaitNames(ctx context.Context) {
	l.Resolver.Want(l.Builder.Build(l.Source.Snapshot()).ExternalNames)
	timeout := time.After(firstNames)
	for l.Resolver.Pending() {
		select {
		case <-l.Resolver.Changed():
		case <-timeout:
			return
		case <-ctx.Done():
			return
		}
	}
}

// round brings the objects of this moment into force.
func (l *Loop) round(ctx context.Context) error {
	begin := time.Now()
	snapshot := l.Source.Snapshot().WithAddresses(l.Resolver.Addresses())
	result := l.Builder.Build(snapshot)
	l.Resolver.Want(result.ExternalNames)
	built := time.Since(begin)
	change, err := l.Driver.Apply(ctx, result.Model)
	l.state.Store(&State{
		Ready: l.State().Ready || err == nil, Snapshot: snapshot, Result: result, Change: change, Err: err, At: time.Now(),
	})
	l.Metrics.Round(result.Model, len(snapshot.Faults), built, change, err)
	if err == nil && (change.Set+change.Deleted > 0 || change.Reload) {
		l.Log.Info("applied", "generation", change.Generation, "set", change.Set, "deleted", change.Deleted, "bytes", change.Bytes,
			"reload", strings.Join(change.Reasons, ","), "problems", len(result.Model.Problems), "built", built, "took", change.Took)
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
