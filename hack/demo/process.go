// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a program that this command started and will stop.
type process struct {
	command *exec.Cmd
	done    chan struct{} // closed when it ended
	err     error         // why; to be read after done
}

// start runs a program in a process group of its own, so that a Ctrl-C in the terminal reaches us alone and we end things in order. If
// we die without a word, the program is asked to end.
func start(log *os.File, args ...string) (*process, error) {
	command := exec.Command(args[0], args[1:]...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	p := &process{command: command, done: make(chan struct{})}
	go func() {
		if p.err = command.Wait(); p.err == nil {
			p.err = fmt.Errorf("%s: exit status 0", args[0])
		}
		close(p.done)
	}()
	return p, nil
}

// stop asks the program to end and, after the grace, makes its whole group end. It may be called again.
func (p *process) stop(grace time.Duration) {
	select {
	case <-p.done:
	default:
		_ = p.command.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(grace):
		}
	}
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) // what is left of the group, usually nothing
	<-p.done
}
