// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package front

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// inner is a driver that runs until it is told to end.
type inner struct {
	restarted chan struct{}
	ended     error
}

func (i inner) Run(ctx context.Context) error { <-ctx.Done(); return i.ended }

func (i inner) Apply(context.Context, *model.Model) (model.Change, error) { return model.Change{}, nil }

func (i inner) Restarted() <-chan struct{} { return i.restarted }

// talking is one that has something to say.
type talking struct{ inner }

func (talking) Notices() []model.Problem { return []model.Problem{{Reason: "Words"}} }

// TestRunWith has an inner driver that announces something and ends with an error, and a part beside it.
func TestRunWith(t *testing.T) {
	behind := inner{make(chan struct{}), errors.New("the end")}
	f := New(behind)
	ctx, cancel := context.WithCancel(t.Context())
	var parts atomic.Int64
	ended := make(chan error)
	go func() { ended <- f.RunWith(ctx, func(ctx context.Context) { <-ctx.Done(); parts.Add(1) }) }()
	behind.restarted <- struct{}{}
	<-f.Restarted()
	f.Owe()
	f.Owe()
	<-f.Restarted()
	select {
	case <-f.Restarted():
		t.Error("what is owed twice before anybody looks is told twice")
	default:
	}
	cancel()
	if err := <-ended; err == nil || err.Error() != "the end" || parts.Load() != 1 {
		t.Errorf("%v, %d parts have ended", err, parts.Load())
	}
}

func TestNotices(t *testing.T) {
	if got := New(inner{}).Notices(); got != nil {
		t.Errorf("%v", got)
	}
	if got := New(talking{}).Notices(); len(got) != 1 || got[0].Reason != "Words" {
		t.Errorf("%v", got)
	}
}

// TestTend has a hundred things to do: all are done, each once, and never more than three at once. Then there are more.
func TestTend(t *testing.T) {
	f := New(inner{})
	ctx, cancel := context.WithCancel(t.Context())
	todo := make(chan int, 1000)
	var now, most, done atomic.Int64
	all := make(chan struct{}, 2)
	next := func() (func(context.Context), time.Duration) {
		select {
		case <-todo:
		default:
			return nil, time.Hour
		}
		return func(context.Context) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Millisecond)
			now.Add(-1)
			if n := done.Add(1); n%100 == 0 {
				all <- struct{}{}
			}
		}, 0
	}
	ended := make(chan struct{})
	go func() { defer close(ended); f.Tend(ctx, 3, next) }()
	for range 2 {
		for i := range 100 {
			todo <- i
		}
		f.Wake()
		<-all
	}
	cancel()
	<-ended
	if done.Load() != 200 || most.Load() > 3 {
		t.Errorf("%d things were done, %d at once", done.Load(), most.Load())
	}
}
