// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"
	"time"
)

// sightings notes when the source first said that something changed, so that one can tell how long changes take to be in force.
type sightings struct {
	changed chan struct{} // for the loop

	mu    sync.Mutex
	first time.Time // of those that no round has taken; zero when there are none
}

// follow passes the source's word on, until ctx ends.
func (s *sightings) follow(ctx context.Context, source <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-source:
		}
		s.mu.Lock()
		if s.first.IsZero() {
			s.first = time.Now()
		}
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
}

// take gives when the first change was seen that the next snapshot has; zero for none.
func (s *sightings) take() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.first
	s.first = time.Time{}
	return first
}

// putBack is for a round that came to nothing: the next one has its changes too.
func (s *sightings) putBack(first time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !first.IsZero() {
		s.first = first
	}
}
