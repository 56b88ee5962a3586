// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// reportStatus writes the pod status whenever it changed.
func (w *worker) reportStatus(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.dirty:
			w.patchStatus(ctx)
		}
	}
}

// patchStatus writes the pod's status. It tries until that works or the pod is gone, so that an API server that is away for a while
// misses nothing but what was true only meanwhile.
func (w *worker) patchStatus(ctx context.Context) {
	for {
		err := w.tryPatchStatus(ctx)
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
			return
		}
		pod := w.current()
		log.Printf("status of %s/%s: %v", pod.Namespace, pod.Name, err)
		pause(ctx, time.Second)
	}
}

func (w *worker) tryPatchStatus(ctx context.Context) error {
	status := w.status()
	pod := w.current()
	type replace struct {
		Patch string `json:"$patch"`
	}
	podIPs := []any{replace{"replace"}} // the list is merged by address otherwise
	for _, ip := range status.PodIPs {
		podIPs = append(podIPs, ip)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": struct {
		corev1.PodStatus
		PodIPs []any `json:"podIPs"`
	}{status, podIPs}})
	if err != nil {
		return err
	}
	_, err = w.r.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// status computes the pod's status from its containers.
func (w *worker) status() corev1.PodStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	status := corev1.PodStatus{
		HostIP: w.node.ip, HostIPs: []corev1.HostIP{{IP: w.node.ip}},
		StartTime: w.started, QOSClass: w.pod.Status.QOSClass, Phase: corev1.PodPending,
		ObservedGeneration: w.pod.Generation,
	}
	if w.ip != "" {
		status.PodIP, status.PodIPs = w.ip, []corev1.PodIP{{IP: w.ip}}
	}
	ready, begun, ended, failed := len(w.containers) > 0, false, true, false
	for _, c := range w.containers {
		status.ContainerStatuses = append(status.ContainerStatuses, c.status())
		ready = ready && c.ready
		begun = begun || c.state.Running != nil || c.restarts > 0 || c.state.Terminated != nil
		ended = ended && c.done && c.state.Terminated != nil
		failed = failed || c.state.Terminated != nil && c.state.Terminated.ExitCode != 0
	}
	for _, c := range w.init {
		status.InitContainerStatuses = append(status.InitContainerStatuses, c.status())
		ready = ready && (!c.sidecar() || c.ready)
	}
	switch {
	case w.failed != "":
		status.Phase, status.Message = corev1.PodFailed, w.failed
	case ended && failed:
		status.Phase = corev1.PodFailed
	case ended:
		status.Phase = corev1.PodSucceeded
	case begun:
		status.Phase = corev1.PodRunning
	}
	gates := true
	for _, g := range w.pod.Spec.ReadinessGates {
		gates = gates && conditionTrue(w.pod, g.ConditionType)
	}
	set := func(t corev1.PodConditionType, ok bool, reason string) {
		cond := corev1.PodCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.Now(), ObservedGeneration: w.pod.Generation}
		if ok {
			cond.Status, cond.Reason = corev1.ConditionTrue, ""
		}
		for _, old := range w.pod.Status.Conditions {
			if old.Type == t && old.Status == cond.Status {
				cond.LastTransitionTime = old.LastTransitionTime
			}
		}
		status.Conditions = append(status.Conditions, cond)
	}
	set(corev1.PodScheduled, true, "")
	set(corev1.PodReadyToStartContainers, w.ip != "", "")
	set(corev1.PodInitialized, w.initDone, "ContainersNotInitialized")
	set(corev1.ContainersReady, ready, "ContainersNotReady")
	reason := "ContainersNotReady"
	if ready {
		reason = "ReadinessGatesNotReady"
	}
	set(corev1.PodReady, ready && gates, reason)
	return status
}

func conditionTrue(pod *corev1.Pod, t corev1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == t {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (c *container) status() corev1.ContainerStatus {
	started := c.started
	s := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, ImageID: "process://" + strings.Join(c.image.Exec, " "),
		State: c.state, LastTerminationState: c.last, RestartCount: c.restarts, Ready: c.ready, Started: &started,
	}
	if c.pid != 0 {
		s.ContainerID = fmt.Sprintf("process://%d", c.pid)
	}
	return s
}
