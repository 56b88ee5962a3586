// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/fairway-ingress/fairway/internal/model"
)

// programmedEvery is how long statements of a moment are gathered, and after how long a write that failed is repeated.
const programmedEvery = time.Second

// Programmer writes statements into the status of custom resources while Lead runs. Set may be called from any goroutine.
type Programmer struct {
	client dynamic.Interface
	log    *slog.Logger
	limit  flowcontrol.RateLimiter
	wake   chan struct{}

	mu     sync.Mutex                         // guards wanted
	wanted map[string]map[model.Ref]Statement // by what they are about; those of two are of different objects

	written map[model.Ref]Statement // Lead's own
}

// NewProgrammer makes one that writes nothing yet.
func NewProgrammer(client dynamic.Interface, log *slog.Logger) *Programmer {
	return &Programmer{
		client: client, log: log, limit: flowcontrol.NewTokenBucketRateLimiter(writesPerSecond, parallel), wake: make(chan struct{}, 1),
		wanted: map[string]map[model.Ref]Statement{},
	}
}

// Set says all that is to be stated about something. It need not be called when that is the same as before. The map is not modified afterwards.
func (p *Programmer) Set(about string, statements map[model.Ref]Statement) {
	p.mu.Lock()
	p.wanted[about] = statements
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Lead writes what differs until ctx ends. A write that fails is repeated.
func (p *Programmer) Lead(ctx context.Context) {
	p.written = map[model.Ref]Statement{} // somebody else may have led meanwhile
	ticker := time.NewTicker(programmedEvery)
	defer ticker.Stop()
	failed := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
			// Gather the rounds of a moment, such as between an object and the Secret that it names.
			select {
			case <-ctx.Done():
				return
			case <-time.After(programmedEvery):
			}
		case <-ticker.C:
			if !failed {
				continue
			}
		}
		failed = !p.writeAll(ctx)
	}
}

// writeAll tells whether all is written.
func (p *Programmer) writeAll(ctx context.Context) bool {
	p.mu.Lock()
	wanted := map[model.Ref]Statement{}
	for _, statements := range p.wanted {
		maps.Copy(wanted, statements)
	}
	p.mu.Unlock()
	done := true
	for ref := range p.written {
		if _, still := wanted[ref]; !still {
			delete(p.written, ref)
		}
	}
	for ref, s := range wanted {
		if before := p.written[ref]; before != nil && before.same(s) {
			continue
		}
		if p.limit.Wait(ctx) != nil {
			return false
		}
		if err := p.write(ctx, ref, s); err != nil {
			done = false
			p.log.Debug("status is not written", "object", ref.String(), "err", err)
			continue
		}
		p.written[ref] = s
	}
	return done
}

// write changes the status of one object, unless it says so already.
func (p *Programmer) write(ctx context.Context, ref model.Ref, s Statement) error {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	client := resource(p.client, ref)
	if client == nil {
		return nil
	}
	object, err := client.Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // gone; the next round knows
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", ref, err)
	}
	members := s.members(object, time.Now())
	if members == nil {
		return nil
	}
	if err := patchStatus(ctx, client, object, members); !apierrors.IsNotFound(err) {
		return err
	}
	return nil // gone, or a definition without a status
}
