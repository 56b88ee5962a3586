// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// podChanged schedules new pods and hands the others to their workers.
func (r *runner) podChanged(ctx context.Context, pod *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return
	}
	if pod.Spec.NodeName == "" {
		if _, busy := r.binding[pod.UID]; busy || pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 || pod.Spec.SchedulerName != corev1.DefaultSchedulerName {
			return
		}
		if n := r.place(pod); n != nil {
			r.binding[pod.UID] = n.name
			go r.bind(ctx, pod, n)
		}
		return
	}
	delete(r.binding, pod.UID)
	n := r.node(pod.Spec.NodeName)
	if n == nil {
		return
	}
	w := r.workers[pod.UID]
	if w == nil {
		finished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if finished && pod.DeletionTimestamp == nil {
			return
		}
		w = newWorker(r, n, pod)
		r.workers[pod.UID] = w
		go w.run(ctx)
	}
	w.update(pod)
}

// podGone ends the worker of a pod whose object has vanished (forced deletion).
func (r *runner) podGone(pod *corev1.Pod) {
	r.mu.Lock()
	w := r.workers[pod.UID]
	delete(r.binding, pod.UID)
	r.mu.Unlock()
	if w != nil {
		w.terminate(0)
	}
}

// bind tries until the pod has its node or is gone.
func (r *runner) bind(ctx context.Context, pod *corev1.Pod, n *node) {
	for ctx.Err() == nil {
		err := r.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: n.name},
		}, metav1.CreateOptions{})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return
		}
		log.Printf("bind %s/%s: %v", pod.Namespace, pod.Name, err)
		pause(ctx, time.Second)
	}
}

// place picks a node: one that satisfies node selector and required node
// affinity, with the fewest pods of the same owner, then the fewest pods.
func (r *runner) place(pod *corev1.Pod) *node {
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	owner := ownerOf(pod)
	type load struct{ same, all int }
	loads := map[string]*load{}
	for _, n := range r.nodes {
		loads[n.name] = new(load)
	}
	for _, w := range r.workers {
		l := loads[w.node.name]
		l.all++
		if owner != "" && ownerOf(w.current()) == owner {
			l.same++
		}
	}
	for _, name := range r.binding {
		if l := loads[name]; l != nil {
			l.all++
			l.same++ // close enough: pods of one owner arrive together
		}
	}
	candidates := []*node{}
	for _, n := range r.nodes {
		if ok, err := required.Match(n.object); err == nil && ok {
			candidates = append(candidates, n)
		}
	}
	sort.SliceStable(candidates, func(i, j int) bool {
		a, b := loads[candidates[i].name], loads[candidates[j].name]
		return a.same < b.same || a.same == b.same && a.all < b.all
	})
	if len(candidates) == 0 {
		log.Printf("pod %s/%s fits no node", pod.Namespace, pod.Name)
		return nil
	}
	return candidates[0]
}

func ownerOf(pod *corev1.Pod) string {
	if ref := metav1.GetControllerOf(pod); ref != nil {
		return string(ref.UID)
	}
	return ""
}
