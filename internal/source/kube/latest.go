// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"sync"

	netv1 "k8s.io/api/networking/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// OnStatus makes Run call changed for each Ingress, TCPIngress and UDPIngress whose status.loadBalancer changes, whoever wrote it. A snapshot does
// not change by that, because nothing that is served follows from it. It is to be called before Run; changed must not block.
func (s *Source) OnStatus(changed func(kind string, key source.Key)) { s.statusChanged = changed }

// Latest gives the newest version of an Ingress that has arrived, its status included, or nil. It is not to be modified, and lacks what
// nobody reads (see slim), so it can't be written back.
func (s *Source) Latest(key source.Key) *netv1.Ingress {
	ingress, _ := s.latest.get(ingressKind, key).(*netv1.Ingress)
	return ingress
}

// LatestStatus gives status.loadBalancer of the newest version of an Ingress, a TCPIngress or a UDPIngress, or nil. It is not to be modified.
func (s *Source) LatestStatus(kind string, key source.Key) *netv1.IngressLoadBalancerStatus {
	switch object := s.latest.get(kind, key).(type) {
	case *netv1.Ingress:
		return &object.Status.LoadBalancer
	case *unstructured.Unstructured:
		var typed kongapi.TCPIngress // a UDPIngress has the same status
		if runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"status": object.Object["status"]}, &typed) != nil {
			return &netv1.IngressLoadBalancerStatus{}
		}
		return &typed.Status.LoadBalancer
	}
	return nil
}

const ingressKind = "Ingress"

// latestObjects are the stores of informers of kinds that have a status, by kind.
type latestObjects struct {
	mu     sync.Mutex // guards stores
	stores map[string]cache.Store
}

func (l *latestObjects) get(kind string, key source.Key) any {
	l.mu.Lock()
	store := l.stores[kind]
	l.mu.Unlock()
	if store == nil {
		return nil
	}
	object, found, err := store.GetByKey(key.String())
	if err != nil || !found {
		return nil
	}
	return object
}

// followStatus is beside the handler that fills the snapshots, which passes over changes of the status.
func (s *Source) followStatus(kind string, informer cache.SharedIndexInformer) {
	s.latest.mu.Lock()
	if s.latest.stores == nil {
		s.latest.stores = map[string]cache.Store{}
	}
	s.latest.stores[kind] = informer.GetStore()
	s.latest.mu.Unlock()
	if s.statusChanged == nil {
		return
	}
	// The error says that the informer was stopped; ours is new.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		new, ok := after.(metav1.Object)
		if ok && !apiequality.Semantic.DeepEqual(balancerOf(before), balancerOf(after)) {
			s.statusChanged(kind, source.Key{Namespace: new.GetNamespace(), Name: new.GetName()})
		}
	}})
}

// balancerOf gives status.loadBalancer in the form that the object has it.
func balancerOf(object any) any {
	switch o := object.(type) {
	case *netv1.Ingress:
		return o.Status.LoadBalancer
	case *unstructured.Unstructured:
		status, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status", "loadBalancer")
		return status
	}
	return nil
}
