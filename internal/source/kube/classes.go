// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	netv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// The right to list IngressClasses is asked for every classRetry while the start waits for it, at most classPatience: an installation makes it at the same
// time as the pods, and the API server hears of it a moment later. After that it is asked for every classLook.
const (
	classRetry    = 200 * time.Millisecond
	classPatience = 3 * time.Second
	classLook     = 20 * time.Second
)

// classTable is a table whose snapshot is nil until it is published: classes of which only some are known would make Ingresses nobody's.
type classTable struct {
	table[string, *netv1.IngressClass]
	published atomic.Bool
}

func (t *classTable) publish() {
	t.begin()
	t.published.Store(true)
}

func (t *classTable) snapshot() map[string]*netv1.IngressClass {
	if !t.published.Load() {
		return nil
	}
	return t.table.snapshot()
}

// mayListClasses tells whether IngressClasses can be watched. Without that right the predecessor falls back to annotations, and so do we.
func (s *Source) mayListClasses(ctx context.Context) (bool, error) {
	deadline := time.Now().Add(classPatience)
	for ctx.Err() == nil {
		pause := time.Second
		err := s.askForClasses(ctx)
		switch {
		case err == nil:
			return true, nil
		case apierrors.IsUnauthorized(err):
			return false, fmt.Errorf("list IngressClasses: %w", err)
		case !apierrors.IsForbidden(err):
			s.log.Warn("IngressClasses can't be listed yet", "err", err)
		case time.Now().After(deadline):
			s.log.Warn("IngressClasses may not be listed, so only the annotation kubernetes.io/ingress.class counts until they may", "err", err)
			return false, nil
		default:
			pause = classRetry
		}
		sleep(ctx, pause)
	}
	return false, nil
}

func (s *Source) askForClasses(ctx context.Context) error {
	_, err := s.options.Client.NetworkingV1().IngressClasses().List(ctx, metav1.ListOptions{Limit: 1})
	return err
}

func (s *Source) classWatch(all informers.SharedInformerFactory) watch {
	return add(s, all.Networking().V1().IngressClasses().Informer(), slim, sameClass, func(old, new *netv1.IngressClass) {
		putCluster(&s.classes.table, old, new)
		s.notify()
	})
}

// awaitClasses begins to watch IngressClasses when the right to do so was given after the start. They count when all are known.
func (s *Source) awaitClasses(ctx context.Context, running *sync.WaitGroup) {
	if s.classes.published.Load() {
		return
	}
	for sleep(ctx, classLook); s.askForClasses(ctx) != nil; sleep(ctx, classLook) {
		if ctx.Err() != nil {
			return
		}
	}
	s.log.Info("IngressClasses may be listed now, and count")
	w := s.classWatch(informers.NewSharedInformerFactory(s.options.Client, s.options.Resync))
	running.Go(func() { w.informer.RunWithContext(ctx) })
	if cache.WaitForCacheSync(ctx.Done(), w.handled) {
		s.classes.publish()
		s.notify()
	}
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
