// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"maps"
	"slices"
	"sync"

	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-ingress/fairway/internal/source"
)

// table keeps the objects of one kind by name. Values that were given out are never modified: a change makes a new map the next time
// that one is asked for.
type table[K comparable, V any] struct {
	mu    sync.Mutex // guards below
	items map[K]V
	given map[K]V // nil when items changed since
}

// begin makes an empty table of one that was never used, whose snapshot is nil.
func (t *table[K, V]) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.items == nil {
		t.items = map[K]V{}
	}
}

func (t *table[K, V]) set(key K, value V) {
	t.begin()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items[key], t.given = value, nil
}

func (t *table[K, V]) get(key K) (V, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	value, found := t.items[key]
	return value, found
}

func (t *table[K, V]) remove(key K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, found := t.items[key]; found {
		delete(t.items, key)
		t.given = nil
	}
}

// snapshot gives the content as it is now.
func (t *table[K, V]) snapshot() map[K]V {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.given == nil {
		t.given = maps.Clone(t.items)
	}
	return t.given
}

// ingressList keeps Ingresses in the order of source.Older.
type ingressList struct {
	mu    sync.Mutex // guards below
	items []*netv1.Ingress
	given []*netv1.Ingress // nil when items changed since
}

// replace takes out one and puts in another; either may be nil.
func (l *ingressList) replace(old, new *netv1.Ingress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given = nil
	if old != nil {
		if i, found := slices.BinarySearchFunc(l.items, old, source.Older); found {
			l.items = slices.Delete(l.items, i, i+1)
		}
	}
	if new != nil {
		i, found := slices.BinarySearchFunc(l.items, new, source.Older)
		if found {
			l.items[i] = new
		} else {
			l.items = slices.Insert(l.items, i, new)
		}
	}
}

func (l *ingressList) snapshot() []*netv1.Ingress {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.given == nil {
		l.given = slices.Clone(l.items)
	}
	return l.given
}

// sliceTable keeps EndpointSlices by their Service.
type sliceTable struct {
	table[source.Key, []*discoveryv1.EndpointSlice]
}

func serviceOf(s *discoveryv1.EndpointSlice) source.Key {
	return source.Key{Namespace: s.Namespace, Name: s.Labels[discoveryv1.LabelServiceName]}
}

// replace takes out one slice and puts in another; either may be nil. The list of a Service is copied, because the old one may have been given out.
func (t *sliceTable) replace(old, new *discoveryv1.EndpointSlice) {
	if old != nil {
		key := serviceOf(old)
		list, _ := t.get(key)
		list = slices.DeleteFunc(slices.Clone(list), func(s *discoveryv1.EndpointSlice) bool { return s.Name == old.Name })
		if len(list) == 0 {
			t.remove(key)
		} else {
			t.set(key, list)
		}
	}
	if new != nil {
		key := serviceOf(new)
		list, _ := t.get(key)
		list = slices.DeleteFunc(slices.Clone(list), func(s *discoveryv1.EndpointSlice) bool { return s.Name == new.Name })
		i, _ := slices.BinarySearchFunc(list, new.Name, func(s *discoveryv1.EndpointSlice, name string) int {
			if s.Name < name {
				return -1
			}
			if s.Name > name {
				return 1
			}
			return 0
		})
		t.set(key, slices.Insert(list, i, new))
	}
}

// handler turns an informer's events into calls of put with what was and what is there now; either is nil. Updates for which
// same is true are dropped, so that the pointer stays what it was.
type handler[T any] struct {
	same func(old, new *T) bool
	put  func(old, new *T)
	held map[string]*T // by cache key; only touched by the informer's one goroutine
}

func (h *handler[T]) OnAdd(obj any, _ bool) { h.OnUpdate(nil, obj) }

func (h *handler[T]) OnUpdate(_, obj any) {
	new := obj.(*T)
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return // not an API object: the informer gives none
	}
	old := h.held[key]
	if old != nil && h.same(old, new) {
		return
	}
	h.held[key] = new
	h.put(old, new)
}

func (h *handler[T]) OnDelete(obj any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return
	}
	if old := h.held[key]; old != nil {
		delete(h.held, key)
		h.put(old, nil)
	}
}
