// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// worker runs one pod: network namespace, volumes, containers, status.
type worker struct {
	r    *runner
	node *node
	dir  string

	mu         sync.Mutex
	pod        *v1.Pod
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

// container is one process of a pod. Its fields are guarded by worker.mu.
type container struct {
	w     *worker
	spec  *v1.Container
	image *image

	pid      int
	ready    bool
	started  bool
	restarts int32
	state    v1.ContainerState
	last     v1.ContainerState
	exited   chan struct{} // of the current process
	done     bool          // will not be started again
	wasReady bool
}

func newWorker(r *runner, n *node, pod *v1.Pod) *worker {
	return &worker{r: r, node: n, pod: pod, dir: r.podDir(pod),
		dirty: make(chan struct{}, 1), stopping: make(chan struct{})}
}

func (w *worker) current() *v1.Pod {
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
func (w *worker) update(pod *v1.Pod) {
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
	w.stopContainers()
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
		w.ip, w.ns = w.node.ip, w.node.ns
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
func (w *worker) stopContainers() {
	deadline := time.Now().Add(w.grace)
	var wg sync.WaitGroup
	for _, c := range append(append([]*container{}, w.containers...), w.init...) {
		wg.Add(1)
		go func() { defer wg.Done(); c.stop(deadline) }()
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
	for range 5 {
		err := w.r.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &pod.UID}})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
			break
		}
		log.Printf("delete %s/%s: %v", pod.Namespace, pod.Name, err)
		time.Sleep(time.Second)
	}
	w.r.mu.Lock()
	delete(w.r.workers, pod.UID)
	w.r.mu.Unlock()
	if !pod.Spec.HostNetwork && w.ip != "" {
		w.r.releaseIP(w.ip)
	}
	os.RemoveAll(w.dir)
}

func waiting(reason string) v1.ContainerState {
	return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason}}
}

func (c *container) sidecar() bool {
	return c.spec.RestartPolicy != nil && *c.spec.RestartPolicy == v1.ContainerRestartPolicyAlways
}

func (c *container) hasStarted() bool {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return c.started || c.done
}

// finish marks a container that was never run as ended.
func (c *container) finish(code int32) {
	now := metav1.Now()
	c.w.mu.Lock()
	c.state = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: code, Reason: "Completed", StartedAt: now, FinishedAt: now}}
	c.done = true
	c.w.mu.Unlock()
	c.w.touch()
}

// restart says whether a process that ended with code is started again.
func (c *container) restart(code int32, isInit bool) bool {
	if c.sidecar() {
		return true
	}
	switch c.w.current().Spec.RestartPolicy {
	case v1.RestartPolicyNever:
		return false
	case v1.RestartPolicyOnFailure:
		return code != 0
	}
	return !isInit || code != 0
}

// loop keeps the container's process running until ctx ends or its restart
// policy is satisfied.
func (c *container) loop(ctx context.Context) {
	isInit := false
	for _, i := range c.w.init {
		isInit = isInit || i == c
	}
	backoff := time.Second
	for ctx.Err() == nil {
		if c.image.Fake {
			c.w.mu.Lock()
			c.state = v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.Now()}}
			c.ready, c.started = true, true
			c.w.mu.Unlock()
			c.w.touch()
			<-ctx.Done()
			return
		}
		begin := metav1.Now()
		code, err := c.runOnce(ctx)
		if ctx.Err() != nil && err != nil {
			return
		}
		terminated := &v1.ContainerStateTerminated{ExitCode: code, StartedAt: begin, FinishedAt: metav1.Now(), Reason: "Completed"}
		if err != nil {
			terminated.ExitCode, terminated.Message = 128, err.Error()
		}
		if terminated.ExitCode != 0 {
			terminated.Reason = "Error"
		}
		again := ctx.Err() == nil && c.restart(terminated.ExitCode, isInit)
		c.w.mu.Lock()
		c.pid, c.ready, c.started = 0, false, false
		c.state = v1.ContainerState{Terminated: terminated}
		if again {
			c.last = c.state
			c.restarts++
			c.state = waiting("CrashLoopBackOff")
		} else {
			c.done = true
		}
		c.w.mu.Unlock()
		c.w.touch()
		if !again {
			return
		}
		if time.Since(begin.Time) > time.Minute {
			backoff = time.Second
		}
		select {
		case <-ctx.Done():
			c.finish(terminated.ExitCode)
			return
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, 30*time.Second)
	}
}

// runOnce starts the process, probes it, and waits for its end.
func (c *container) runOnce(ctx context.Context) (int32, error) {
	cmd, err := c.command(ctx)
	if err != nil {
		return 0, err
	}
	out, err := os.OpenFile(filepath.Join(c.w.dir, c.spec.Name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	exited := make(chan struct{})
	c.w.mu.Lock()
	if ctx.Err() != nil {
		c.w.mu.Unlock()
		return 0, ctx.Err()
	}
	if err := c.w.r.spawn(cmd); err != nil {
		c.w.mu.Unlock()
		return 0, err
	}
	c.pid, c.exited = cmd.Process.Pid, exited
	c.state = v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.Now()}}
	c.w.mu.Unlock()

	probeCtx, stopProbes := context.WithCancel(ctx)
	go c.probe(probeCtx)
	c.w.touch()
	cmd.Wait()
	stopProbes()
	close(exited)
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // leftovers of the process group
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int32(status.Signal()), nil
	}
	return int32(cmd.ProcessState.ExitCode()), nil
}

// stop runs the preStop hook, then ends the process by the deadline.
func (c *container) stop(deadline time.Time) {
	c.w.mu.Lock()
	pid, exited := c.pid, c.exited
	c.w.mu.Unlock()
	if pid == 0 {
		return
	}
	if c.spec.Lifecycle != nil && c.spec.Lifecycle.PreStop != nil && time.Until(deadline) > 0 {
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		if hook := c.spec.Lifecycle.PreStop; hook.Sleep != nil {
			select {
			case <-time.After(time.Duration(hook.Sleep.Seconds) * time.Second):
			case <-ctx.Done():
			case <-exited:
			}
		} else {
			c.check(ctx, &v1.ProbeHandler{Exec: hook.Exec, HTTPGet: hook.HTTPGet, TCPSocket: hook.TCPSocket})
		}
		cancel()
	}
	syscall.Kill(pid, syscall.SIGTERM)
	select {
	case <-exited:
		return
	case <-time.After(time.Until(deadline)):
	}
	syscall.Kill(-pid, syscall.SIGKILL)
	<-exited
}

// exec runs a command in the namespaces of the container's process.
func (c *container) exec(ctx context.Context, argv []string) error {
	c.w.mu.Lock()
	pid := c.pid
	c.w.mu.Unlock()
	if pid == 0 || len(argv) == 0 {
		return fmt.Errorf("not running")
	}
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{"-t", fmt.Sprint(pid), "-m", "-n", "-r", "-w", "--"}, argv...)...)
	return cmd.Run()
}

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

func (w *worker) patchStatus(ctx context.Context) {
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
		v1.PodStatus
		PodIPs []any `json:"podIPs"`
	}{status, podIPs}})
	if err != nil {
		log.Print(err)
		return
	}
	for range 5 {
		_, err = w.r.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
			return
		}
		log.Printf("status of %s/%s: %v", pod.Namespace, pod.Name, err)
		time.Sleep(500 * time.Millisecond)
	}
}

// status computes the pod's status from its containers.
func (w *worker) status() v1.PodStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	status := v1.PodStatus{
		HostIP: w.node.ip, HostIPs: []v1.HostIP{{IP: w.node.ip}},
		StartTime: w.started, QOSClass: w.pod.Status.QOSClass, Phase: v1.PodPending,
		ObservedGeneration: w.pod.Generation,
	}
	if w.ip != "" {
		status.PodIP, status.PodIPs = w.ip, []v1.PodIP{{IP: w.ip}}
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
		status.Phase, status.Message = v1.PodFailed, w.failed
	case ended && failed:
		status.Phase = v1.PodFailed
	case ended:
		status.Phase = v1.PodSucceeded
	case begun:
		status.Phase = v1.PodRunning
	}
	gates := true
	for _, g := range w.pod.Spec.ReadinessGates {
		gates = gates && conditionTrue(w.pod, g.ConditionType)
	}
	set := func(t v1.PodConditionType, ok bool, reason string) {
		cond := v1.PodCondition{Type: t, Status: v1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.Now(), ObservedGeneration: w.pod.Generation}
		if ok {
			cond.Status, cond.Reason = v1.ConditionTrue, ""
		}
		for _, old := range w.pod.Status.Conditions {
			if old.Type == t && old.Status == cond.Status {
				cond.LastTransitionTime = old.LastTransitionTime
			}
		}
		status.Conditions = append(status.Conditions, cond)
	}
	set(v1.PodScheduled, true, "")
	set(v1.PodReadyToStartContainers, w.ip != "", "")
	set(v1.PodInitialized, w.initDone, "ContainersNotInitialized")
	set(v1.ContainersReady, ready, "ContainersNotReady")
	reason := "ContainersNotReady"
	if ready {
		reason = "ReadinessGatesNotReady"
	}
	set(v1.PodReady, ready && gates, reason)
	return status
}

func conditionTrue(pod *v1.Pod, t v1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == t {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

func (c *container) status() v1.ContainerStatus {
	started := c.started
	s := v1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, ImageID: "process://" + strings.Join(c.image.Exec, " "),
		State: c.state, LastTerminationState: c.last, RestartCount: c.restarts, Ready: c.ready, Started: &started,
	}
	if c.pid != 0 {
		s.ContainerID = fmt.Sprintf("process://%d", c.pid)
	}
	return s
}
