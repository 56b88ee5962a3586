// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// KongOptions ask for the custom resources of Kong.
type KongOptions struct {
	// Client reads them; a cluster may lack any of them, and one that appears later is watched from then on.
	Client dynamic.Interface
	// References names the Secrets and ConfigMaps that a custom resource or a Service needs.
	References func(object any) (secrets, configMaps []source.Key)
	// Labels are those with which Secrets and ConfigMaps count whoever names them.
	Labels []string
}

// kongLook is how often kinds that the cluster does not have are looked for.
const kongLook = 10 * time.Second

// kongTables keep the custom resources. What was given out is never modified.
type kongTables struct {
	mu      sync.Mutex // guards below
	objects kongapi.Objects
	given   *kongapi.Objects // nil when objects changed since
}

func (s *Source) kongSnapshot() *kongapi.Objects {
	if s.options.Kong == nil {
		return nil
	}
	s.kong.mu.Lock()
	defer s.kong.mu.Unlock()
	if s.kong.given == nil {
		s.kong.given = s.kong.objects.Clone()
	}
	return s.kong.given
}

// startKong watches the kinds that there are, waits until they are read, and goes on looking for the others. It tells false when ctx has ended.
func (s *Source) startKong(ctx context.Context, running *sync.WaitGroup) bool {
	if s.options.Kong == nil {
		return true
	}
	var synced []cache.InformerSynced
	var missing []kongapi.Kind
	for _, kind := range kongapi.Kinds() {
		if !s.isServed(ctx, &kind, true) {
			missing = append(missing, kind)
			continue
		}
		synced = append(synced, s.watchKong(ctx, &kind, running))
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return false
	}
	if len(missing) > 0 {
		running.Go(func() { s.awaitKinds(ctx, missing, running) })
	}
	return true
}

// awaitKinds watches the kinds that come later.
func (s *Source) awaitKinds(ctx context.Context, missing []kongapi.Kind, running *sync.WaitGroup) {
	ticker := time.NewTicker(kongLook)
	defer ticker.Stop()
	for len(missing) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var still []kongapi.Kind
		for _, kind := range missing {
			if s.isServed(ctx, &kind, false) {
				s.log.Info("custom resources are served now", "kind", kind.Name)
				s.watchKong(ctx, &kind, running)
			} else {
				still = append(still, kind)
			}
		}
		missing = still
	}
}

func (s *Source) resource(kind *kongapi.Kind) dynamic.ResourceInterface {
	all := s.options.Kong.Client.Resource(kind.Resource())
	if kind.Cluster || s.options.Namespace == "" {
		return all
	}
	return all.Namespace(s.options.Namespace)
}

// isServed tells whether the kind can be listed. An informer of one that cannot would never be done with its first list.
func (s *Source) isServed(ctx context.Context, kind *kongapi.Kind, first bool) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := s.resource(kind).List(ctx, metav1.ListOptions{Limit: 1})
	switch {
	case err == nil:
		return true
	case apierrors.IsNotFound(err):
	case first && ctx.Err() == nil:
		s.log.Warn("custom resources can't be listed; what they say has no effect until they can", "kind", kind.Name, "err", err)
	}
	return false
}

// watchKong starts an informer of a kind.
func (s *Source) watchKong(ctx context.Context, kind *kongapi.Kind, running *sync.WaitGroup) cache.InformerSynced {
	namespace := s.options.Namespace
	if kind.Cluster {
		namespace = ""
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(s.options.Kong.Client, kind.Resource(), namespace, s.options.Resync,
		cache.Indexers{}, nil).Informer()
	h := &kongHandler{source: s, kind: *kind, held: map[string]heldObject{}}
	_ = informer.SetTransform(slim)
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { s.watchFailed(r.Name(), err) })
	if kind.HasAddresses() {
		s.followStatus(kind.Name, informer)
	}
	registration, err := informer.AddEventHandler(h)
	if err != nil {
		panic("watch " + kind.Name + ": " + err.Error()) // a stopped informer; ours is new
	}
	running.Go(func() { informer.RunWithContext(ctx) })
	return registration.HasSynced
}

// kongHandler turns events into objects of the tables. Only the informer's one goroutine calls it.
type kongHandler struct {
	source *Source
	kind   kongapi.Kind
	held   map[string]heldObject
}

// heldObject is an object and what it was read from, by which a change that says nothing is recognised.
type heldObject struct {
	object metav1.Object
	text   []byte
}

func (h *kongHandler) OnAdd(obj any, _ bool) { h.OnUpdate(nil, obj) }

func (h *kongHandler) OnUpdate(_, obj any) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	text, err := meaningful(u)
	key := keyOf(u)
	old := h.held[key.String()]
	if err != nil || old.object != nil && bytes.Equal(old.text, text) {
		return
	}
	object, err := h.kind.Decode(text)
	if err != nil {
		// The definition in the cluster lets in what ours would not; the last version that could be read stays.
		h.source.log.Warn("custom resource can't be read", "kind", h.kind.Name, "object", key.String(), "err", err)
		return
	}
	h.held[key.String()] = heldObject{object, text}
	h.put(key, old.object, object)
}

func (h *kongHandler) OnDelete(obj any) {
	key, err := cache.DeletionHandlingObjectToName(obj)
	if err != nil {
		return
	}
	name := source.Key{Namespace: key.Namespace, Name: key.Name}
	if old, known := h.held[name.String()]; known {
		delete(h.held, name.String())
		h.put(name, old.object, nil)
	}
}

func (h *kongHandler) put(key source.Key, old, new metav1.Object) {
	tables := &h.source.kong
	tables.mu.Lock()
	tables.objects.Put(h.kind.Name, key, new)
	tables.given = nil
	tables.mu.Unlock()
	h.source.refer(referencesOf(h.source.options.Kong, old), referencesOf(h.source.options.Kong, new))
	h.source.notify()
}

// meaningful gives the object as JSON without what changes by itself.
func meaningful(u *unstructured.Unstructured) ([]byte, error) {
	content := map[string]any{}
	for key, value := range u.Object {
		if key != "status" {
			content[key] = value
		}
	}
	if metadata, ok := u.Object["metadata"].(map[string]any); ok {
		kept := map[string]any{}
		for _, key := range []string{"name", "namespace", "uid", "creationTimestamp", "annotations", "labels"} {
			if value, found := metadata[key]; found {
				kept[key] = value
			}
		}
		content["metadata"] = kept
	}
	return json.Marshal(content)
}

// referencesOf gives the Secrets and ConfigMaps that an object needs; none for no object.
func referencesOf(options *KongOptions, object any) (references [2][]source.Key) {
	switch o := object.(type) {
	case nil:
		return references
	case *corev1.Service:
		if o == nil {
			return references
		}
	case metav1.Object:
		if o == nil {
			return references
		}
	}
	if options.References != nil {
		references[0], references[1] = options.References(object)
	}
	return references
}

// refer notes which Secrets and ConfigMaps are named now, and fetches those that were stripped.
func (s *Source) refer(before, after [2][]source.Key) {
	s.secretsWanted.change(before[0], after[0])
	s.configMapsWanted.change(before[1], after[1])
	select {
	case <-s.synced:
	default:
		return // they are read later and kept
	}
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

// kongKeeps tells whether a Secret or ConfigMap counts by its labels.
func (s *Source) kongKeeps(o metav1.Object) bool {
	if s.options.Kong == nil {
		return false
	}
	labels := o.GetLabels()
	for _, name := range s.options.Kong.Labels {
		if _, found := labels[name]; found {
			return true
		}
	}
	return false
}
