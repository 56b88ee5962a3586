// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// worker runs one pod: network namespace, volumes, containers, status.
type worker struct {
	r    *runner
	node *node
	dir  string

	mu         sync.Mutex
	pod        *corev1.Pod
	ip, ns     string
	ownNetns   bool
	containers []*container
	init       []*container
	initDone   bool
	failed     string // reason when the pod failed before its containers ran
	started    *metav1.Time

	dirty    chan struct{}
	stopOnce sync.Once
	stopping chan struct{}
	grace    time.Duration
}

func newWorker(r *runner, n *node, pod *corev1.Pod) *worker {
	return &worker{r: r, node: n, pod: pod, dir: r.podDir(pod),
		dirty: make(chan struct{}, 1), stopping: make(chan struct{})}
}

func (w *worker) current() *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pod
}

func (w *worker) touch() {
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

// update takes a new version of the pod object.
func (w *worker) update(pod *corev1.Pod) {
	w.mu.Lock()
	w.pod = pod
	w.mu.Unlock()
	if pod.DeletionTimestamp != nil {
		grace := int64(30)
		if pod.DeletionGracePeriodSeconds != nil {
			grace = *pod.DeletionGracePeriodSeconds
		}
		w.terminate(time.Duration(grace) * time.Second)
	} else if len(pod.Spec.ReadinessGates) > 0 {
		w.touch()
	}
}

func (w *worker) terminate(grace time.Duration) {
	w.stopOnce.Do(func() {
		w.grace = grace
		close(w.stopping)
	})
}

// kill ends all processes at once (shutdown of the whole runner).
func (w *worker) kill() {
	w.terminate(0)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range append(append([]*container{}, w.init...), w.containers...) {
		if c.pid != 0 {
			syscall.Kill(-c.pid, syscall.SIGKILL)
		}
	}
}

// run is the life of the pod.
func (w *worker) run(ctx context.Context) {
	statusDone := make(chan struct{})
	statusCtx, stopStatus := context.WithCancel(ctx)
	defer stopStatus()
	go func() { defer close(statusDone); w.reportStatus(statusCtx) }()

	runCtx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-w.stopping:
		case <-ctx.Done():
		}
		cancel()
	}()
	var wg sync.WaitGroup
	if err := w.setup(runCtx); err != nil {
		if runCtx.Err() == nil {
			log.Printf("pod %s/%s: %v", w.pod.Namespace, w.pod.Name, err)
		}
	} else {
		go w.refreshVolumes(runCtx)
		w.runInit(runCtx, &wg)
		if runCtx.Err() == nil && w.failed == "" {
			for _, c := range w.containers {
				wg.Add(1)
				go func() { defer wg.Done(); c.loop(runCtx) }()
			}
		}
	}
	select {
	case <-w.stopping:
	case <-ctx.Done():
		return
	}
	w.stopContainers(ctx)
	wg.Wait()
	stopStatus()
	<-statusDone
	w.remove(ctx)
}

// setup gives the pod its address, namespace and volumes. It returns only
// when that worked or the pod is to end.
func (w *worker) setup(ctx context.Context) error {
	pod := w.current()
	now := metav1.Now()
	w.mu.Lock()
	w.started = &now
	fake := true
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		w.init = append(w.init, &container{w: w, spec: c, image: w.r.images.lookup(c.Image), state: waiting("PodInitializing")})
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		entry := w.r.images.lookup(c.Image)
		fake = fake && entry.Fake
		w.containers = append(w.containers, &container{w: w, spec: c, image: entry, state: waiting("ContainerCreating")})
	}
	w.mu.Unlock()

	if pod.Spec.HostNetwork {
		w.mu.Lock()
		w.ip, w.ns = w.node.ip, w.node.ns
		w.mu.Unlock()
	} else {
		ip, err := w.r.allocateIP()
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.ip = ip
		w.mu.Unlock()
		if !fake {
			var a, b int
			fmt.Sscanf(ip, "10.244.%d.%d", &a, &b)
			link := fmt.Sprintf("p%02x%02x", a, b)
			w.ns, w.ownNetns = w.r.netns+"-"+link, true
			if err := makeLeafNetns(w.r.netns, w.ns, link, ip); err != nil {
				return err
			}
		}
	}
	if fake {
		return nil
	}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	w.touch()
	for first := true; ; first = false {
		err := w.writeVolumes(ctx)
		if err == nil {
			return nil
		}
		if first {
			log.Printf("pod %s/%s waits: %v", pod.Namespace, pod.Name, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// runInit runs the init containers in order. Those whose image has no mapping
// marked "init" count as done; sidecars (restartPolicy Always) keep running.
func (w *worker) runInit(ctx context.Context, wg *sync.WaitGroup) {
	for _, c := range w.init {
		switch {
		case c.sidecar():
			wg.Add(1)
			go func() { defer wg.Done(); c.loop(ctx) }()
			for ctx.Err() == nil && !c.hasStarted() {
				time.Sleep(20 * time.Millisecond)
			}
		case !c.image.Init:
			c.finish(0)
		default:
			c.loop(ctx)
			w.mu.Lock()
			if t := c.state.Terminated; t != nil && t.ExitCode != 0 && ctx.Err() == nil {
				w.failed = "init container " + c.spec.Name + " failed"
			}
			w.mu.Unlock()
		}
	}
	w.mu.Lock()
	w.initDone = w.failed == ""
	w.mu.Unlock()
	w.touch()
}

// stopContainers sends SIGTERM to all processes and SIGKILL after the grace
// period.
func (w *worker) stopContainers(ctx context.Context) {
	deadline := time.Now().Add(w.grace)
	var wg sync.WaitGroup
	for _, c := range append(append([]*container{}, w.containers...), w.init...) {
		wg.Add(1)
		go func() { defer wg.Done(); c.stop(ctx, deadline) }()
	}
	wg.Wait()
}

// remove frees what the pod held and deletes its object.
func (w *worker) remove(ctx context.Context) {
	w.patchStatus(ctx)
	if w.ownNetns {
		removeNetns(w.ns)
	}
	pod := w.current()
	zero := int64(0)
	for { // until it works: the API server may be away
		err := w.r.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &pod.UID}})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
			break
		}
		log.Printf("delete %s/%s: %v", pod.Namespace, pod.Name, err)
		pause(ctx, time.Second)
	}
	w.r.mu.Lock()
	delete(w.r.workers, pod.UID)
	w.r.mu.Unlock()
	if !pod.Spec.HostNetwork && w.ip != "" {
		w.r.releaseIP(w.ip)
	}
	os.RemoveAll(w.dir)
}
