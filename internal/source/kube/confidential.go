// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/source"
)

// stripped marks a Secret or ConfigMap that was cut down to its name.
const stripped = "fairway.dev/stripped"

func isStripped(o metav1.Object) bool { _, found := o.GetAnnotations()[stripped]; return found }

func strip(o metav1.Object) {
	o.SetAnnotations(map[string]string{stripped: ""})
	o.SetLabels(nil)
	o.SetOwnerReferences(nil)
	o.SetFinalizers(nil)
}

// wanted counts who names an object, so that its content is kept.
type wanted struct {
	mu     sync.Mutex // guards below
	counts map[source.Key]int
	pinned map[source.Key]bool
}

func newWanted(pinned []source.Key) *wanted {
	w := &wanted{counts: map[source.Key]int{}, pinned: map[source.Key]bool{}}
	for _, key := range pinned {
		w.pinned[key] = true
	}
	return w
}

// change counts down the keys that are no longer named by one object and up those that now are.
func (w *wanted) change(before, after []source.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range after {
		w.counts[key]++
	}
	for _, key := range before {
		if w.counts[key]--; w.counts[key] <= 0 {
			delete(w.counts, key)
		}
	}
}

func (w *wanted) has(key source.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pinned[key] || w.counts[key] > 0
}

func keyOf(o metav1.Object) source.Key {
	return source.Key{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// keepSecret is the informer's transform: it runs before a Secret is stored.
func (s *Source) keepSecret(obj any) (any, error) {
	secret, ok := obj.(*corev1.Secret)
	if !ok {
		return obj, nil
	}
	secret.ManagedFields = nil
	delete(secret.Annotations, corev1.LastAppliedConfigAnnotation)
	if secret.Type == "helm.sh/release.v1" || !s.secretsWanted.has(keyOf(secret)) && !s.kongKeeps(secret) {
		secret.Data = nil
		strip(secret)
	}
	return secret, nil
}

func (s *Source) keepConfigMap(obj any) (any, error) {
	configMap, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return obj, nil
	}
	configMap.ManagedFields = nil
	if configMap.Labels["OWNER"] == "TILLER" || !s.configMapsWanted.has(keyOf(configMap)) && !s.kongKeeps(configMap) {
		configMap.Data, configMap.BinaryData = nil, nil
		strip(configMap)
	}
	return configMap, nil
}

func (s *Source) putSecret(old, new *corev1.Secret) {
	if new == nil {
		s.secrets.remove(keyOf(old))
	} else if !isStripped(new) {
		s.secrets.set(keyOf(new), new)
	} else if !s.secretsWanted.has(keyOf(new)) {
		s.secrets.remove(keyOf(new))
		return // nobody looks at it
	} else {
		s.fetch(fetchSecret, keyOf(new))
		return
	}
	s.notify()
}

func (s *Source) putConfigMap(old, new *corev1.ConfigMap) {
	s.followConfigMap(old, new)
	if new == nil {
		s.configMaps.remove(keyOf(old))
	} else if !isStripped(new) {
		s.configMaps.set(keyOf(new), new)
	} else if !s.configMapsWanted.has(keyOf(new)) {
		s.configMaps.remove(keyOf(new))
		return
	} else {
		s.fetch(fetchConfigMap, keyOf(new))
		return
	}
	s.notify()
}

// followConfigMap notes which Secrets and ConfigMaps a ConfigMap names now, and fetches those that were stripped.
func (s *Source) followConfigMap(old, new *corev1.ConfigMap) {
	var before, after [2][]source.Key
	if old != nil {
		before[0], before[1] = s.options.ConfigMapReferences(old)
	}
	if new != nil {
		after[0], after[1] = s.options.ConfigMapReferences(new)
	}
	s.secretsWanted.change(before[0], after[0])
	s.configMapsWanted.change(before[1], after[1])
	for _, key := range after[0] {
		if _, found := s.secrets.get(key); !found {
			s.fetch(fetchSecret, key)
		}
	}
	for _, key := range after[1] {
		if _, found := s.configMaps.get(key); !found {
			s.fetch(fetchConfigMap, key)
		}
	}
}

// request is an object whose content is missing.
type request struct {
	kind fetchKind
	key  source.Key
}

type fetchKind uint8

const (
	fetchSecret fetchKind = iota
	fetchConfigMap
)

func (s *Source) fetch(kind fetchKind, key source.Key) { s.missing.Add(request{kind, key}) }

// fetchMissing gets the content of objects that were named after they had been stripped, until the queue is shut down.
func (s *Source) fetchMissing(ctx context.Context) {
	for {
		r, quit := s.missing.Get()
		if quit {
			return
		}
		if err := s.fetchOne(ctx, r); err != nil && ctx.Err() == nil {
			s.log.Warn("object is not readable", "object", r.key.String(), "err", err)
			s.missing.AddRateLimited(r)
		} else {
			s.missing.Forget(r)
		}
		s.missing.Done(r)
	}
}

func (s *Source) fetchOne(ctx context.Context, r request) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	switch r.kind {
	case fetchSecret:
		if _, found := s.secrets.get(r.key); found || !s.watchesSecretsIn(r.key.Namespace) {
			return nil
		}
		secret, err := s.options.Client.CoreV1().Secrets(r.key.Namespace).Get(ctx, r.key.Name, metav1.GetOptions{})
		if gone(err) {
			return nil // there is no such thing; its creation will be an event
		}
		if err != nil {
			return err
		}
		if !s.selects(secret) {
			return nil // as if there were none; that it is labelled will be an event
		}
		secret.ManagedFields = nil
		s.secrets.set(r.key, secret)
	case fetchConfigMap:
		if _, found := s.configMaps.get(r.key); found {
			return nil
		}
		configMap, err := s.options.Client.CoreV1().ConfigMaps(r.key.Namespace).Get(ctx, r.key.Name, metav1.GetOptions{})
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		configMap.ManagedFields = nil
		s.configMaps.set(r.key, configMap)
	}
	s.notify()
	return nil
}
