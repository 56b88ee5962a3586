// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// load asks for a path again and again from several clients until stop is called.
type load struct {
	done  chan struct{}
	wait  sync.WaitGroup
	mu    sync.Mutex // guards below
	good  int
	bad   map[string]int
	onPod map[string]int
}

// startLoad begins; clients each send a request every 5 ms at most.
func (e *environment) startLoad(host, path string, clients int) *load {
	l := &load{done: make(chan struct{}), bad: map[string]int{}, onPod: map[string]int{}}
	for range clients {
		l.wait.Go(func() {
			for {
				select {
				case <-l.done:
					return
				case <-time.After(5 * time.Millisecond):
				}
				a, err := e.get("http", host, path)
				l.note(a, err)
			}
		})
	}
	return l
}

func (l *load) note(a answer, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.bad[err.Error()]++
	case a.status != 200:
		l.bad[fmt.Sprintf("status %d", a.status)]++
	default:
		l.good++
		l.onPod[a.pod]++
	}
}

// stop ends the load and demands that no request failed and that at least `atLeast` were made.
func (l *load) stop(t *testing.T, atLeast int) {
	t.Helper()
	close(l.done)
	l.wait.Wait()
	if len(l.bad) > 0 {
		t.Errorf("failed requests beside %d good ones: %v", l.good, l.bad)
	}
	if l.good < atLeast {
		t.Errorf("only %d requests were made, wanted %d", l.good, atLeast)
	}
	t.Logf("%d requests, %d pods", l.good, len(l.onPod))
}
