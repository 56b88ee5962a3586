// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync"

	"github.com/fairway-ingress/fairway/internal/events"
	"github.com/fairway-ingress/fairway/internal/kong"
	"github.com/fairway-ingress/fairway/internal/metrics"
)

// pushReporter is who makes Events of pushes.
type pushReporter interface {
	Pushed(gateway string, fallback bool, err error)
}

// pushTeller tells of a push to a gateway when another came of it than of the one before: Events are for what changes.
type pushTeller struct {
	mu       sync.Mutex // guards what follows
	reporter pushReporter
	last     map[pushTo]bool // whether all was taken
}

// pushTo is a gateway, and whether it was given what is left without what it refuses.
type pushTo struct {
	gateway  string
	fallback bool
}

// to says who tells. What came before is not told.
func (t *pushTeller) to(reporter *events.Reporter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if reporter != nil {
		t.reporter = reporter
	}
}

func (t *pushTeller) tell(p kong.Push) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, well := pushTo{p.Gateway, p.Fallback}, p.Reason() == ""
	before, known := t.last[at]
	if t.last == nil {
		t.last = map[pushTo]bool{}
	}
	t.last[at] = well
	if well && !p.Fallback {
		delete(t.last, pushTo{p.Gateway, true})
	}
	switch {
	case known && before == well, t.reporter == nil:
	case !known && p.Requests == 0 && well: // found so at the start
	case well:
		t.reporter.Pushed(p.Gateway, p.Fallback, nil)
	default:
		err := p.Err
		if err == nil {
			err = fmt.Errorf("%d entities are refused, all else is in force", p.Broken)
		}
		t.reporter.Pushed(p.Gateway, p.Fallback, err)
	}
}

// gone forgets a gateway, here and in the metrics.
func (f *kongFlags) gone(families *metrics.Kong) func(string) {
	return func(gateway string) {
		families.Gone(gateway)
		f.pushes.mu.Lock()
		defer f.pushes.mu.Unlock()
		delete(f.pushes.last, pushTo{gateway, false})
		delete(f.pushes.last, pushTo{gateway, true})
	}
}
