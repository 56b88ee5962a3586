// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// The supervisor is told by signal to stop the API server (SIGUSR1) or to start it again (SIGUSR2); the file says what it has done.
const apiServerStopped = "apiserver.stopped"

// switchAPIServer kills the API server, or starts it again and waits until it is ready; etcd, pods and their
// traffic stay. The controller manager is started anew with it: in a cluster it has lost its lease by then and does the same.
func (s *supervisor) switchAPIServer(ctx context.Context, on bool) error {
	if on == (s.child(apiServer) != nil) {
		return nil
	}
	if !on {
		s.kill(apiServer)
		return os.WriteFile(s.file(apiServerStopped), nil, 0o644)
	}
	if err := s.runAPIServer(); err != nil {
		return err
	}
	if err := s.waitAPIServer(ctx); err != nil {
		return err
	}
	s.kill(controllerManager)
	if err := s.runControllerManager(); err != nil {
		return err
	}
	return os.Remove(s.file(apiServerStopped))
}

func stopPart(args []string) error  { return signalPart(args, syscall.SIGUSR1) }
func startPart(args []string) error { return signalPart(args, syscall.SIGUSR2) }

func signalPart(args []string, sig syscall.Signal) error {
	if len(args) == 0 || args[0] != apiServer {
		return errors.New("say which part: apiserver is the only one that can be stopped and started")
	}
	o := parseOptions("part", args[1:])
	pid := o.pid()
	if pid == 0 {
		return fmt.Errorf("no cluster is running in %s", o.dir)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		return err
	}
	err := waitFor(readyLimit+10*time.Second, func() bool {
		_, err := os.Stat(o.file(apiServerStopped))
		return (err == nil) == (sig == syscall.SIGUSR1) || o.pid() == 0
	})
	if err == nil && o.pid() == 0 {
		return fmt.Errorf("the cluster in %s has ended", o.dir)
	}
	return err
}
