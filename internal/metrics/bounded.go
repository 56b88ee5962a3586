// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairway-ingress/fairway/internal/model"
)

// bounded is a family of counters by namespace and name that has at most mostReviewed series, and one for the rest. It is safe for concurrent use.
type bounded struct {
	*prometheus.CounterVec
	mu   sync.Mutex // guards seen
	seen map[[2]string]bool
}

func (b *bounded) inc(namespace, name string) {
	key := [2]string{namespace, name}
	b.mu.Lock()
	switch {
	case b.seen[key]:
	case len(b.seen) >= mostReviewed:
		key = [2]string{model.Overflow, model.Overflow}
	default:
		if b.seen == nil {
			b.seen = map[[2]string]bool{}
		}
		b.seen[key] = true
	}
	b.mu.Unlock()
	b.WithLabelValues(key[0], key[1]).Inc()
}

func (b *bounded) series() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen)
}
