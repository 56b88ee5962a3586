// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package front has what all drivers before another driver need: such a one changes models on their way, by what it finds out in the
// background. A Front runs the inner driver and the background together, passes on what the inner driver announces and says, and does
// whatever is due. What is found out, and what that makes of a model, is up to who embeds it.
package front

import (
	"context"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Inner is the driver that carries traffic; see controller.Driver.
type Inner interface {
	Run(ctx context.Context) error
	Apply(ctx context.Context, m *model.Model) (model.Change, error)
	Restarted() <-chan struct{}
}

// Front is to be embedded by a driver before another. Its methods may be called from any goroutine.
type Front struct {
	Inner Inner
	owed  chan struct{}
	wake  chan struct{}
}

// New gives what stands before a driver.
func New(inner Inner) Front {
	return Front{Inner: inner, owed: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// Restarted sends a value when the inner driver does, and when Owe was called.
func (f Front) Restarted() <-chan struct{} { return f.owed }

// Owe asks the controller to apply its model again.
func (f Front) Owe() { signal(f.owed) }

// Notices are those of the inner driver, if it has any.
func (f Front) Notices() []model.Problem {
	if inner, ok := f.Inner.(interface{ Notices() []model.Problem }); ok {
		return inner.Notices()
	}
	return nil
}

// RunWith runs the inner driver until ctx ends, and parts beside it until it has ended. It returns when all have.
func (f Front) RunWith(ctx context.Context, parts ...func(context.Context)) error {
	beside, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { f.Forward(beside, f.Inner.Restarted()) })
	for _, part := range parts {
		running.Go(func() { part(beside) })
	}
	err := f.Inner.Run(ctx)
	stop()
	running.Wait()
	return err
}

// Forward calls Owe for whatever comes, until ctx ends.
func (f Front) Forward(ctx context.Context, from <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-from:
			f.Owe()
		}
	}
}

// Wake makes Tend look again what is due.
func (f Front) Wake() { signal(f.wake) }

// Tend does what is due, at most so many things at once, until ctx ends and all that it began is done. next gives one of them, which it gives
// once, or nil and how long nothing will be due.
func (f Front) Tend(ctx context.Context, parallel int, next func() (do func(context.Context), wait time.Duration)) {
	slots := make(chan struct{}, parallel)
	var running sync.WaitGroup
	defer running.Wait()
	for ctx.Err() == nil {
		do, wait := next()
		if do == nil {
			f.rest(ctx, wait)
			continue
		}
		select {
		case <-ctx.Done():
		case slots <- struct{}{}:
			running.Go(func() {
				do(ctx)
				<-slots
			})
		}
	}
}

func (f Front) rest(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-f.wake:
	case <-timer.C:
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // a value that nobody has taken says as much
	}
}
