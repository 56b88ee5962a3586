// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// balancer gives each Service of type LoadBalancer an address of lbNet
// (spec.loadBalancerIP if it is one of them). Services with a
// loadBalancerClass are left to somebody else.
type balancer struct {
	r        *runner
	services corelisters.ServiceLister
	queue    workqueue.TypedRateLimitingInterface[cache.ObjectName]
	used     map[string]cache.ObjectName
	last     int
}

func newBalancer(r *runner) *balancer {
	return &balancer{r: r, services: r.factory.Core().V1().Services().Lister(), used: map[string]cache.ObjectName{}, last: 9,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())}
}

func (b *balancer) watch(ctx context.Context) {
	add := func(o any) {
		if name, err := cache.DeletionHandlingObjectToName(o); err == nil {
			b.queue.Add(name)
		}
	}
	inf := b.r.factory.Core().V1().Services().Informer()
	inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: add, UpdateFunc: func(_, o any) { add(o) }})
	go func() { <-ctx.Done(); b.queue.ShutDown() }()
	go func() {
		cache.WaitForCacheSync(ctx.Done(), inf.HasSynced)
		for {
			name, quit := b.queue.Get()
			if quit {
				return
			}
			if err := b.sync(ctx, name); err != nil && ctx.Err() == nil {
				log.Printf("load balancer of %s: %v", name, err)
				b.queue.AddAfter(name, time.Second)
			}
			b.queue.Done(name)
		}
	}()
}

func (b *balancer) sync(ctx context.Context, name cache.ObjectName) error {
	svc, err := b.services.Services(name.Namespace).Get(name.Name)
	wanted := err == nil && svc.Spec.Type == corev1.ServiceTypeLoadBalancer && svc.Spec.LoadBalancerClass == nil && svc.DeletionTimestamp == nil
	if !wanted {
		held := false
		for ip, owner := range b.used {
			if owner == name {
				delete(b.used, ip)
				held = true
			}
		}
		if err == nil && held && len(svc.Status.LoadBalancer.Ingress) > 0 {
			return b.write(ctx, svc, nil)
		}
		return nil
	}
	for _, in := range svc.Status.LoadBalancer.Ingress {
		if strings.HasPrefix(in.IP, "172.20.") {
			b.used[in.IP] = name
			return nil
		}
	}
	ip := svc.Spec.LoadBalancerIP
	if _, taken := b.used[ip]; taken || !strings.HasPrefix(ip, "172.20.") {
		for taken := true; taken; _, taken = b.used[ip] {
			b.last++
			ip = fmt.Sprintf("172.20.%d.%d", b.last/250%250, b.last%250+1)
		}
	}
	b.used[ip] = name
	mode := corev1.LoadBalancerIPModeVIP
	return b.write(ctx, svc, []corev1.LoadBalancerIngress{{IP: ip, IPMode: &mode}})
}

func (b *balancer) write(ctx context.Context, svc *corev1.Service, ingress []corev1.LoadBalancerIngress) error {
	svc = svc.DeepCopy()
	svc.Status.LoadBalancer.Ingress = ingress
	_, err := b.r.client.CoreV1().Services(svc.Namespace).UpdateStatus(ctx, svc, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
