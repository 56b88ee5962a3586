// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fairway-ingress/fairway/internal/explain"
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
	// Extend, when not nil, adds to each result what a data plane needs to know beyond the model of package ingress.
	Extend func(*source.Snapshot, *ingress.Result)
	// Echoes are told of each round when it is over, in order, on the loop's goroutine; they must not block.
	Echoes []func(*State)

	state atomic.Pointer[State]
	first memory // of problems; the loop's own
	seen  sightings
	// refused are the snippets that the driver does not take, each with its reason. Another map is made when one is added.
	refused map[string]string
}

// State is what the loop knows after a round. It is never modified.
type State struct {
	// Ready tells whether the data plane has obeyed, once at least, everything that the source held at the start.
	Ready bool
	// Snapshot and Result are those of the last round, and Err is why it is not in force. Problems are those of Result, of files and
	// of expired certificates, each with the time when it was first seen.
	Snapshot *source.Snapshot
	Result   *ingress.Result
	Problems explain.Problems
	Err      error
	// InForce is what the data plane obeys, nil before the first success.
	InForce *ingress.Result
	// Change is the last that was made, At the time of it. Tried is what the last round was to change, whether that is in force or not.
	Change model.Change
	At     time.Time
	Tried  model.Change
	// Built is how long the last build took.
	Built time.Duration
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
	// A round that failed is repeated after retryMin, then ever later, and at the next change.
	retryMin = 100 * time.Millisecond
	retryMax = 10 * time.Second
	// applyPatience is how long the driver may take, a data plane that starts and a reload included, before the round counts as failed.
	applyPatience = 2 * time.Minute
	// restMax bounds the rest between two rounds, which is as long as the last took: under a storm of changes half of the time is left
	// to others, and a change is not kept waiting for long.
	restMax = 25 * time.Millisecond
	// lookAgain is after how long a round is made without a change, for certificates that expire.
	lookAgain = 10 * time.Minute
)

// Run runs source, resolver, driver and loop until ctx ends or one of them gives up.
func (l *Loop) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.seen.changed = make(chan struct{}, 1)
	parts := map[string]func(context.Context) error{
		"changes": func(ctx context.Context) error { l.seen.follow(ctx, l.Source.Changed()); return nil },
		"source":  l.Source.Run, "resolver": l.Resolver.Run, "driver": l.Driver.Run, "loop": l.loop,
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
		err := l.round(ctx, retry)
		end := time.Now()
		wait, rest := lookAgain, min(end.Sub(begin), restMax)
		if err != nil {
			wait, rest = retry, retryMin
			retry = min(2*retry, retryMax)
		} else {
			retry = retryMin
		}
		l.awaitChange(ctx, wait)
		sleep(ctx, rest-time.Since(end))
		l.drain()
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

// awaitChange waits until there is a reason for another round, for so long at most.
func (l *Loop) awaitChange(ctx context.Context, longest time.Duration) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-l.seen.changed:
	case <-l.Resolver.Changed():
	case <-l.Driver.Restarted():
	}
}

// drain forgets the reasons that came until now: the snapshot that is taken next has them all.
func (l *Loop) drain() {
	for _, reason := range []<-chan struct{}{l.seen.changed, l.Resolver.Changed(), l.Driver.Restarted()} {
		select {
		case <-reason:
		default:
		}
	}
}

// round brings the objects of this moment into force. An error was logged.
func (l *Loop) round(ctx context.Context, retry time.Duration) error {
	begin, seen := time.Now(), l.seen.take()
	snapshot := l.Source.Snapshot().WithAddresses(l.Resolver.Addresses()).WithRefused(l.refused)
	result := l.Builder.Build(snapshot)
	if l.Extend != nil {
		l.Extend(snapshot, result)
	}
	l.Resolver.Want(result.ExternalNames)
	built := time.Since(begin)
	change, err := l.apply(ctx, result.Model)
	if err != nil {
		l.seen.putBack(seen)
	}
	if l.refuse(result.Model.SettingsID, err) {
		return l.round(ctx, retry)
	}
	if err != nil && ctx.Err() != nil {
		return nil // stopped, not failed
	}
	last := l.State()
	next := &State{
		Ready: last.Ready || err == nil, Snapshot: snapshot, Result: result, Err: err, Built: built,
		InForce: last.InForce, Change: last.Change, At: last.At, Tried: change,
		Problems: l.first.date(Problems(snapshot, result, begin, notices(l.Driver, l.Builder.SettingsObject())...), begin),
	}
	if err == nil {
		next.InForce = result
		l.Builder.Confirm(result.Model.Settings)
	}
	changed := change.Reload || change.Set+change.Deleted > 0
	if changed && err == nil {
		next.Change, next.At = change, time.Now()
	}
	l.state.Store(next)
	l.Metrics.Round(metrics.Round{
		Model: result.Model, Accepted: result.Accepted, Problems: byReason(next.Problems), Built: built, Seen: seen, Change: change, Err: err,
	}, time.Now())
	l.tell(last, next, changed, retry)
	for _, echo := range l.Echoes {
		echo(next)
	}
	return err
}

// mostRefused bounds the memory of refused snippets; beyond it all are tested again.
const mostRefused = 1000

// refuse notes what the driver does not take and tells whether that is news, so that the model has to be built without.
func (l *Loop) refuse(settingsID string, err error) bool {
	var refusal *model.RefusedError
	if !errors.As(err, &refusal) {
		return false
	}
	news := map[string]string{}
	if len(l.refused) < mostRefused {
		maps.Copy(news, l.refused)
	}
	before := len(news)
	for snippet, reason := range refusal.Snippets {
		news[string(snippet)] = reason
	}
	for key, reason := range refusal.Settings {
		news[model.SettingsRefusal(settingsID, key)] = reason
	}
	l.refused = news
	return len(news) > before
}

func (l *Loop) apply(ctx context.Context, m *model.Model) (model.Change, error) {
	ctx, cancel := context.WithTimeout(ctx, applyPatience)
	defer cancel()
	return l.Driver.Apply(ctx, m)
}

// tell logs one line per change, and one per error that was not the last round's already.
func (l *Loop) tell(last, next *State, changed bool, retry time.Duration) {
	switch {
	case next.Err != nil && last.Err != nil && last.Err.Error() == next.Err.Error():
		l.Log.Debug("change is still not in force", "err", next.Err, "retry", retry)
	case next.Err != nil:
		l.Log.Error("change is not in force, the last good state keeps serving", "err", next.Err, "retry", retry)
	case changed || last.Err != nil:
		c := next.Change
		l.Log.Info("applied", "generation", c.Generation, "set", c.Set, "deleted", c.Deleted, "bytes", c.Bytes,
			"reload", strings.Join(c.Reasons, ","), "problems", len(next.Problems), "built", next.Built, "took", c.Took)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
