// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// givenLabels are those that Kubernetes itself gives to pods, and that differ between the pods of one workload: by version, by
// number, and by where the pod's node is.
var givenLabels = []string{
	"pod-template-hash", "controller-revision-hash", "pod-template-generation", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index",
	corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
}

// Replicas are the pods that are like ours: those of our namespace that have our labels, but for the ones that Kubernetes gives.
type Replicas struct {
	Client kubernetes.Interface
	// Namespace and Name are those of our own pod.
	Namespace, Name string
}

// list gives the pods, our own among them.
func (r Replicas) list(ctx context.Context) ([]corev1.Pod, string, string, error) {
	self, err := r.Client.CoreV1().Pods(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
	if err != nil {
		return nil, "", "", fmt.Errorf("read own pod %s/%s: %w", r.Namespace, r.Name, err)
	}
	wanted := labels.Set(maps.Clone(self.Labels))
	for _, name := range givenLabels {
		delete(wanted, name)
	}
	if len(wanted) == 0 {
		return nil, "", "", fmt.Errorf("own pod %s/%s has no labels to find the other replicas by: add some", r.Namespace, r.Name)
	}
	selector := wanted.String()
	pods, err := r.Client.CoreV1().Pods(r.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, "", "", fmt.Errorf("list pods of %s with labels %s: %w", r.Namespace, selector, err)
	}
	return pods.Items, selector, pods.ResourceVersion, nil
}

// Others tells whether a replica beside this one runs or begins to; those that are about to leave don't count.
func (r Replicas) Others(ctx context.Context) (bool, error) {
	pods, _, _, err := r.list(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(pods, func(p corev1.Pod) bool {
		return p.Name != r.Name && p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
	}), nil
}

// Nodes follows the addresses of the nodes that replicas are ready on.
type Nodes struct {
	Replicas
	// Internal asks for internal addresses also where there are external ones.
	Internal bool
	// Interval is how often the nodes are asked again; changes of pods count at once.
	Interval time.Duration
}

// retryNodes is after how long another try follows an error.
const retryNodes = 5 * time.Second

// Run calls publish with the addresses, now and when they may have changed, until ctx ends. While there are none, as before any
// replica is ready, it does not call. An error goes to failed, unless it was the last already, and is followed by another try.
func (n Nodes) Run(ctx context.Context, publish func(Addresses), failed func(error)) {
	last := ""
	for ctx.Err() == nil {
		changed, stop, err := n.once(ctx, publish)
		longest, text := n.Interval, ""
		if err != nil {
			longest, text = min(longest, retryNodes), err.Error()
		}
		if text != last && text != "" && ctx.Err() == nil {
			failed(err)
		}
		last = text
		wait(ctx, changed, longest)
		stop()
	}
}

// once publishes the addresses and gives what tells that the pods have changed since.
func (n Nodes) once(ctx context.Context, publish func(Addresses)) (<-chan watch.Event, func(), error) {
	pods, selector, version, err := n.list(ctx)
	if err != nil {
		return nil, func() {}, err
	}
	ready := map[string]bool{}
	for _, p := range pods {
		if p.Spec.NodeName != "" && isReady(&p) {
			ready[p.Spec.NodeName] = true
		}
	}
	var nodes []*corev1.Node
	for _, name := range slices.Sorted(maps.Keys(ready)) {
		node, err := n.Client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, func() {}, fmt.Errorf("read node %s: %w", name, err)
		}
		nodes = append(nodes, node)
	}
	if addresses := OfNodes(nodes, n.Internal); len(addresses) > 0 {
		publish(addresses)
	}
	watcher, err := n.Client.CoreV1().Pods(n.Namespace).Watch(ctx, metav1.ListOptions{LabelSelector: selector, ResourceVersion: version})
	if err != nil {
		return nil, func() {}, fmt.Errorf("watch pods of %s: %w", n.Namespace, err)
	}
	return watcher.ResultChan(), watcher.Stop, nil
}

// settle is how long changes of pods are gathered: a rollout makes many.
const settle = time.Second

// wait waits for a change, for so long at most. A channel that is closed, or nil, tells of none.
func wait(ctx context.Context, changed <-chan watch.Event, longest time.Duration) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
		return
	case <-changed: // also when the watch has ended
	}
	select {
	case <-ctx.Done():
	case <-time.After(settle):
	}
}

func isReady(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodRunning && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
