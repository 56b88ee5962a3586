// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// container is one process of a pod. Its fields are guarded by worker.mu.
type container struct {
	w     *worker
	spec  *corev1.Container
	image *image

	pid      int
	ready    bool
	started  bool
	restarts int32
	state    corev1.ContainerState
	last     corev1.ContainerState
	exited   chan struct{} // of the current process
	done     bool          // will not be started again
	wasReady bool
}

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func (c *container) sidecar() bool {
	return c.spec.RestartPolicy != nil && *c.spec.RestartPolicy == corev1.ContainerRestartPolicyAlways
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
	c.state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Completed", StartedAt: now, FinishedAt: now}}
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
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
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
			c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
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
		terminated := &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: begin, FinishedAt: metav1.Now(), Reason: "Completed"}
		if err != nil {
			terminated.ExitCode, terminated.Message = 128, err.Error()
		}
		if terminated.ExitCode != 0 {
			terminated.Reason = "Error"
		}
		again := ctx.Err() == nil && c.restart(terminated.ExitCode, isInit)
		c.w.mu.Lock()
		c.pid, c.ready, c.started = 0, false, false
		c.state = corev1.ContainerState{Terminated: terminated}
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

// runOnce starts the process, probes it, and waits for its end. The process is the first of a PID namespace, so that whatever it has
// started ends with it, however it ends. As in a container, SIGTERM does nothing to it unless it has a handler.
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWPID}

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
	c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	c.w.mu.Unlock()

	probeCtx, stopProbes := context.WithCancel(ctx)
	go c.probe(probeCtx)
	c.w.touch()
	cmd.Wait()
	stopProbes()
	close(exited)
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int32(status.Signal()), nil
	}
	return int32(cmd.ProcessState.ExitCode()), nil
}

// stop runs the preStop hook, then ends the process by the deadline.
func (c *container) stop(ctx context.Context, deadline time.Time) {
	c.w.mu.Lock()
	pid, exited := c.pid, c.exited
	c.w.mu.Unlock()
	if pid == 0 {
		return
	}
	if c.spec.Lifecycle != nil && c.spec.Lifecycle.PreStop != nil && time.Until(deadline) > 0 {
		ctx, cancel := context.WithDeadline(ctx, deadline)
		if hook := c.spec.Lifecycle.PreStop; hook.Sleep != nil {
			select {
			case <-time.After(time.Duration(hook.Sleep.Seconds) * time.Second):
			case <-ctx.Done():
			case <-exited:
			}
		} else {
			c.check(ctx, &corev1.ProbeHandler{Exec: hook.Exec, HTTPGet: hook.HTTPGet, TCPSocket: hook.TCPSocket})
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
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{"-t", fmt.Sprint(pid), "-p", "-m", "-n", "-r", "-w", "--"}, argv...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // nsenter has a child
	return cmd.Run()
}
