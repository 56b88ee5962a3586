// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

func up(args []string) error {
	runtime.LockOSThread() // Pdeathsig is tied to the thread that forks
	o := parseOptions("up", args)
	if os.Geteuid() != 0 {
		return errors.New("up needs root (network namespaces)")
	}
	if len(o.netns) > 9 {
		return errors.New("--netns: at most 9 characters")
	}
	if pid := o.pid(); pid != 0 {
		return fmt.Errorf("a cluster is already running in %s (pid %d)", o.dir, pid)
	}
	if err := o.prepareDir(); err != nil {
		return err
	}
	if o.detach {
		return o.detached(args)
	}
	// From here on signals and the owner's end only end ctx, so that everything is taken down in order.
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	ctx, err := untilOwnerEnds(ctx, o.owner)
	if err != nil {
		return err
	}
	s := &supervisor{options: o, exited: make(chan *child, 8)}
	defer s.stop()
	started := time.Now()
	if err := s.start(ctx); err != nil {
		return err
	}
	fmt.Printf("ready after %.1fs\nexport KUBECONFIG=%s\n", time.Since(started).Seconds(), o.kubeconfig())
	if err := os.WriteFile(o.file(readyFile), nil, 0o644); err != nil {
		return err
	}
	return s.supervise(ctx)
}

// prepareDir makes the state directory. A directory that is to be removed at the end must not hold anything of others.
func (o *options) prepareDir() error {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	if !o.removeDir {
		return nil
	}
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != upLog {
			return fmt.Errorf("--remove-dir: %s is not empty", o.dir)
		}
	}
	return nil
}

const upLog = "up.log"

// detached starts "up" in the background and returns when the cluster is ready.
func (o *options) detached(args []string) error {
	os.Remove(o.file(readyFile))
	log, err := os.Create(o.file(upLog))
	if err != nil {
		return err
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, append(append([]string{"up"}, args...), "--detach=false")...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	said := func() []byte { // the file may be gone already, this handle is not
		out, _ := io.ReadAll(io.NewSectionReader(log, 0, 1<<20))
		return out
	}
	for {
		if _, err := os.Stat(o.file(readyFile)); err == nil {
			os.Stdout.Write(said())
			return nil
		}
		select {
		case <-done:
			return fmt.Errorf("start: %s", bytes.TrimSpace(said()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// down ends the supervisor of a cluster and waits until it is gone. Where that was killed, it removes what is left instead.
func down(args []string) error {
	o := parseOptions("down", args)
	pid := o.pid()
	if pid == 0 {
		return sweep()
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	before := identity(pid)
	if err := waitFor(60*time.Second, func() bool { return identity(pid) != before }); err != nil {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	return nil
}

// execIn replaces this process with a command in the cluster namespace.
func execIn(args []string) error {
	fs := flag.NewFlagSet("exec", flag.ExitOnError)
	dir := fs.String("dir", defaultDir, "state directory of the cluster")
	fs.Parse(args)
	ns, err := os.ReadFile(filepath.Join(*dir, netnsFile))
	if err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("exec: no command")
	}
	cmd := nsCommand(string(ns), fs.Arg(0), fs.Args()[1:]...)
	os.Setenv("KUBECONFIG", filepath.Join(*dir, "internal.kubeconfig"))
	return syscall.Exec(cmd.Path, cmd.Args, os.Environ())
}

func waitFor(limit time.Duration, done func() bool) error {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if done() {
			return nil
		}
	}
	return fmt.Errorf("not done within %v", limit)
}
