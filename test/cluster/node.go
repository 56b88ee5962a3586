// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"runtime"
	"time"

	coordv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type node struct {
	name, ip, ns string
	object       *corev1.Node
}

// registerNodes creates the Node objects and a network namespace for each.
func (r *runner) registerNodes(ctx context.Context) error {
	for i := 1; i <= r.options.nodes; i++ {
		n := &node{name: fmt.Sprintf("node-%d", i), ip: fmt.Sprintf("172.18.%d.%d", (i+10)/256, (i+10)%256), ns: fmt.Sprintf("%s-n%d", r.netns, i)}
		if err := makeLeafNetns(r.netns, n.ns, fmt.Sprintf("n%d", i), n.ip); err != nil {
			return err
		}
		capacity := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
			corev1.ResourcePods: resource.MustParse("5000"), corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		}
		now := metav1.Now()
		object := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: map[string]string{
				corev1.LabelHostname: n.name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH,
				corev1.LabelTopologyRegion: "test", corev1.LabelTopologyZone: "zone-" + string(rune('a'+(i-1)%3)),
			}},
			Status: corev1.NodeStatus{
				Capacity: capacity, Allocatable: capacity,
				Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.ip}, {Type: corev1.NodeHostName, Address: n.name}},
				DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
				NodeInfo:        corev1.NodeSystemInfo{KubeletVersion: "v1.36.3", OSImage: "none", OperatingSystem: "linux", Architecture: runtime.GOARCH, ContainerRuntimeVersion: "process://1"},
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
					LastHeartbeatTime: now, LastTransitionTime: now}},
			},
		}
		status := object.Status
		var err error
		if n.object, err = r.client.CoreV1().Nodes().Create(ctx, object, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			n.object, err = r.client.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{})
		}
		if err != nil {
			return err
		}
		n.object.Status = status
		if n.object, err = r.client.CoreV1().Nodes().UpdateStatus(ctx, n.object, metav1.UpdateOptions{}); err != nil {
			return err
		}
		r.nodes = append(r.nodes, n)
		if err := r.serveKubelet(n); err != nil {
			return err
		}
	}
	return nil
}

// heartbeat renews the node leases.
func (r *runner) heartbeat(ctx context.Context) {
	leases := r.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	seconds := int32(40)
	for ctx.Err() == nil {
		for _, n := range r.nodes {
			now := metav1.NowMicro()
			lease, err := leases.Get(ctx, n.name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				_, err = leases.Create(ctx, &coordv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Name: n.name},
					Spec:       coordv1.LeaseSpec{HolderIdentity: &n.name, LeaseDurationSeconds: &seconds, RenewTime: &now},
				}, metav1.CreateOptions{})
			} else if err == nil {
				lease.Spec.RenewTime = &now
				_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
			}
			if err != nil && ctx.Err() == nil {
				log.Printf("lease of %s: %v", n.name, err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
	}
}

func (r *runner) node(name string) *node {
	for _, n := range r.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}
