// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	netv1 "k8s.io/api/networking/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-ingress/fairway/internal/source"
)

// OnStatus makes Run call changed for each Ingress whose status.loadBalancer changes, whoever wrote it. A snapshot does not change by
// that, because nothing that is served follows from it. It is to be called before Run; changed must not block.
func (s *Source) OnStatus(changed func(source.Key)) { s.statusChanged = changed }

// Latest gives the newest version of an Ingress that has arrived, its status included, or nil. It is not to be modified, and lacks what
// nobody reads (see slim), so it can't be written back.
func (s *Source) Latest(key source.Key) *netv1.Ingress {
	store := s.latest.Load()
	if store == nil {
		return nil
	}
	object, found, err := (*store).GetByKey(key.String())
	if err != nil || !found {
		return nil
	}
	ingress, _ := object.(*netv1.Ingress)
	return ingress
}

// followStatus is beside the handler that fills the snapshots, which passes over changes of the status.
func (s *Source) followStatus(informer cache.SharedIndexInformer) {
	store := informer.GetStore()
	s.latest.Store(&store)
	if s.statusChanged == nil {
		return
	}
	// The error says that the informer was stopped; ours is new.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		old, isOld := before.(*netv1.Ingress)
		new, isNew := after.(*netv1.Ingress)
		if isOld && isNew && !apiequality.Semantic.DeepEqual(old.Status.LoadBalancer, new.Status.LoadBalancer) {
			s.statusChanged(keyOf(new))
		}
	}})
}
