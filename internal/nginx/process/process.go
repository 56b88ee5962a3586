// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package process starts, adopts, watches and stops one nginx master and its workers. It decides nothing: when to do which
// is up to package nginx.
//
// The master runs in a process group of its own, so that a Ctrl-C in a terminal reaches the controller alone, and so that its
// workers can be found when it died. It gets the state memory file as descriptor 3 (see Memory) and outlives the
// controller: the next controller on the same runtime directory adopts it.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a running nginx master.
type Process struct {
	PID  int
	done chan struct{}
	err  error // why it ended; to be read after done is closed
}

// Command says how nginx is called.
type Command struct {
	Binary string
	Dir    string // runtime directory, nginx' prefix
	Conf   string // path of nginx.conf
}

func (c Command) args(conf string, more ...string) []string {
	return append([]string{"-p", c.Dir, "-c", conf, "-e", "stderr", "-g", "daemon off;"}, more...)
}

// Start starts a master. Its access log goes to stdout and its error log to stderr; an *os.File is handed over as it
// is, so that nginx keeps logging without the controller.
func Start(c Command, state *os.File, stdout, stderr io.Writer) (*Process, error) {
	cmd := exec.Command(c.Binary, c.args(c.Conf)...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.ExtraFiles = []*os.File{state}
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	p := &Process{PID: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// ErrNone says that there is no nginx to adopt.
var ErrNone = errors.New("no nginx to adopt")

// Adopt finds the master that an earlier controller started with the same command and opens its state memory file. It gives
// ErrNone when there is none.
func Adopt(c Command, pidFile string) (*Process, *os.File, error) {
	text, err := os.ReadFile(pidFile)
	if err != nil {
		return nil, nil, ErrNone
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || !strings.Contains(title(pid), "-c "+c.Conf) {
		return nil, nil, ErrNone
	}
	state, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/3", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open state of nginx %d: %w", pid, err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		state.Close()
		return nil, nil, ErrNone
	}
	p := &Process{PID: pid, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		defer unix.Close(fd)
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if !errors.Is(err, unix.EINTR) {
				p.err = errors.New("adopted nginx ended")
				return
			}
		}
	}()
	return p, state, nil
}

// title is the command line of a process, which nginx sets to "nginx: master process COMMAND" and "nginx: worker process".
func title(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}

// Done is closed when the master has ended; Err then tells why.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is the reason of the end; valid after Done is closed.
func (p *Process) Err() error { return p.err }

// Reload tells the master to read its configuration again.
func (p *Process) Reload() error { return syscall.Kill(p.PID, syscall.SIGHUP) }

// Quit stops nginx gracefully: workers finish their requests. When ctx ends first, they are cut off. It returns after the end.
func (p *Process) Quit(ctx context.Context) {
	for _, signal := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGKILL} {
		if syscall.Kill(p.PID, signal) != nil {
			break
		}
		select {
		case <-p.done:
			return
		case <-ctx.Done():
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
	}
	<-p.done
}

// Test lets nginx check a configuration; the error holds what it printed.
func Test(ctx context.Context, c Command, conf string) error {
	cmd := exec.CommandContext(ctx, c.Binary, c.args(conf, "-t", "-q")...)
	cmd.SysProcAttr = attributes()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("nginx refuses the configuration: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Workers gives the process IDs of the workers of a master, also of one that has died, and whether each is shutting down.
func Workers(master int) map[int]bool {
	workers := map[int]bool{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after) // state, parent, process group, …
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if len(fields) < 3 || fields[2] != strconv.Itoa(master) || pid == master || fields[0] == "Z" {
			continue
		}
		if t := title(pid); strings.HasPrefix(t, "nginx: worker") {
			workers[pid] = strings.Contains(t, "shutting down")
		}
	}
	return workers
}

// ReleaseOrphans tells workers whose master died to stop accepting and finish their requests, and waits until they have let go of
// the ports or ctx ends.
func ReleaseOrphans(ctx context.Context, master int) {
	for {
		accepting := 0
		for pid, quitting := range Workers(master) {
			if !quitting {
				accepting++
				_ = syscall.Kill(pid, syscall.SIGQUIT) // gone is as good
			}
		}
		if accepting == 0 {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

// Version asks the program for its version, such as "1.22.1".
func Version(ctx context.Context, binary string) (string, error) {
	out, err := exec.CommandContext(ctx, binary, "-v").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", binary, err)
	}
	_, after, found := strings.Cut(string(out), "nginx/")
	if !found {
		return "", fmt.Errorf("ask %s for its version: it says %q", binary, strings.TrimSpace(string(out)))
	}
	return strings.Fields(after)[0], nil
}
