// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// The supervisor is told by signal to stop the API server (SIGUSR1) or to start it again (SIGUSR2); the file below says what it has done.
const apiServerStopped = "apiserver.stopped"

// switchAPIServer stops or starts the API server; etcd and everything else stay.
func (s *supervisor) switchAPIServer(on bool) error {
	if on == (s.stopped == nil) {
		return nil
	}
	if on {
		if err := s.runAPIServer(pki{s.file("pki")}); err != nil {
			return err
		}
		s.stopped = nil
		return os.Remove(s.file(apiServerStopped))
	}
	for i, c := range s.children {
		if c.name != "apiserver" {
			continue
		}
		s.stopped = c
		s.children = append(s.children[:i:i], s.children[i+1:]...)
		c.cmd.Process.Kill()
		<-c.done
		break
	}
	return os.WriteFile(s.file(apiServerStopped), nil, 0o644)
}

func stopPart(args []string) error  { return signalPart(args, syscall.SIGUSR1) }
func startPart(args []string) error { return signalPart(args, syscall.SIGUSR2) }

func signalPart(args []string, sig syscall.Signal) error {
	if len(args) == 0 || args[0] != "apiserver" {
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
	return waitFor(30*time.Second, func() bool {
		_, err := os.Stat(o.file(apiServerStopped))
		return (err == nil) == (sig == syscall.SIGUSR1)
	})
}

func waitFor(limit time.Duration, done func() bool) error {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if done() {
			return nil
		}
	}
	return errors.New("the cluster did not do it in time")
}
