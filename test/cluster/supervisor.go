// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// readyLimit is how long a part of the cluster may take to become ready on a busy machine.
const readyLimit = 3 * time.Minute

// supervisor is the process of "up": it owns the control plane, the runner and the namespaces. One goroutine, which is bound to the
// main thread, starts and ends the children; they die with that thread.
type supervisor struct {
	*options
	children []*child // in the order of their start
	exited   chan *child
	claimed  bool // the namespace is ours to remove
}

// child is a supervised process.
type child struct {
	name    string
	cmd     *exec.Cmd
	done    chan struct{}
	stopped bool // on request
}

// supervise waits for a reason to stop: the end of ctx, or of a child that nobody stopped.
func (s *supervisor) supervise(ctx context.Context) error {
	parts := make(chan os.Signal, 8)
	signal.Notify(parts, syscall.SIGUSR1, syscall.SIGUSR2)
	for {
		select {
		case <-ctx.Done():
			return nil
		case sig := <-parts:
			if err := s.switchAPIServer(ctx, sig == syscall.SIGUSR2); err != nil {
				return err
			}
		case c := <-s.exited:
			if !c.stopped {
				return s.ended(c)
			}
		}
	}
}

func (s *supervisor) ended(c *child) error {
	return fmt.Errorf("%s ended: %v (see %s)", c.name, c.cmd.ProcessState, s.file(c.name+".log"))
}

// wait returns nil once ok says so, and an error when a child or ctx ends first.
func (s *supervisor) wait(ctx context.Context, what string, ok func() bool) error {
	for deadline := time.Now().Add(readyLimit); time.Now().Before(deadline); {
		if ok() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the %s: %w", what, context.Cause(ctx))
		case c := <-s.exited:
			if !c.stopped {
				return s.ended(c)
			}
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s: not ready within %v", what, readyLimit)
}

// run starts a child in the cluster namespace, with its output in a log file.
func (s *supervisor) run(name, program string, args ...string) error {
	log, err := os.OpenFile(s.file(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	c := &child{name: name, cmd: nsCommand(s.netns, program, args...), done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	s.children = append(s.children, c)
	go func() {
		c.cmd.Wait()
		close(c.done)
		s.exited <- c
	}()
	return nil
}

func (s *supervisor) child(name string) *child {
	for _, c := range s.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// kill ends a child at once.
func (s *supervisor) kill(name string) {
	c := s.child(name)
	c.stopped = true
	s.children = slices.DeleteFunc(s.children, func(other *child) bool { return other == c })
	c.cmd.Process.Kill()
	<-c.done
}

// stop ends the children in reverse order and removes the namespaces.
func (s *supervisor) stop() {
	for _, c := range slices.Backward(s.children) {
		c.cmd.Process.Signal(syscall.SIGTERM)
		grace := 10 * time.Second
		if c.name == apiServer || c.name == controllerManager {
			grace = 0 // nothing to lose, and the API server waits for watches
		}
		select {
		case <-c.done:
		case <-time.After(grace):
			c.cmd.Process.Kill()
			<-c.done
		}
	}
	if !s.claimed {
		return
	}
	removeClusterNetns(s.netns)
	for _, name := range []string{readyFile, infoFile, netnsFile, apiServerStopped, pidFile} {
		os.Remove(s.file(name))
	}
	if s.removeDir {
		if err := os.RemoveAll(s.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			fmt.Fprintln(os.Stderr, "cluster:", err)
		}
	}
	unclaim(s.netns)
}
