// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"sync"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
)

// Index finds the Ingresses that share a host and path with another. It is safe for concurrent use; its zero value is empty.
type Index struct {
	mu     sync.RWMutex // guards below
	places map[ingress.Place][]*netv1.Ingress
	size   int
}

// Replace takes out one version of an Ingress and puts in another; either may be nil.
func (x *Index) Replace(old, new *netv1.Ingress) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.places == nil {
		x.places = map[ingress.Place][]*netv1.Ingress{}
	}
	if old != nil {
		x.size--
		for _, p := range ingress.Places(old) {
			x.take(p, old)
		}
	}
	if new != nil {
		x.size++
		for _, p := range ingress.Places(new) {
			x.places[p] = append(x.places[p], new)
		}
	}
}

func (x *Index) take(p ingress.Place, old *netv1.Ingress) {
	rest := slices.DeleteFunc(x.places[p], func(other *netv1.Ingress) bool { return same(other, old) })
	if len(rest) == 0 {
		delete(x.places, p)
	} else {
		x.places[p] = rest
	}
}

// Rivals gives the other Ingresses that share a place with one, each once.
func (x *Index) Rivals(ing *netv1.Ingress) []*netv1.Ingress {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var rivals []*netv1.Ingress
	seen := map[*netv1.Ingress]bool{}
	for _, p := range ingress.Places(ing) {
		for _, other := range x.places[p] {
			if !same(other, ing) && !seen[other] {
				seen[other] = true
				rivals = append(rivals, other)
			}
		}
	}
	return rivals
}

// Size is the number of Ingresses.
func (x *Index) Size() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.size
}

// same tells whether two are versions of one Ingress.
func same(a, b *netv1.Ingress) bool { return a.Name == b.Name && a.Namespace == b.Namespace }
