// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// registryDir has a file for each cluster, named for its namespace. Its first line is the identity of the supervisor, so that what a
// killed one left behind can be told from what is in use; its second the directory to remove with it, if any.
const registryDir = "/run/fairway-test-clusters"

// withRegistry calls fn while no other process reads or changes the registry.
func withRegistry(fn func() error) error {
	if err := os.MkdirAll(registryDir, 0o700); err != nil {
		return err
	}
	dir, err := os.Open(registryDir)
	if err != nil {
		return err
	}
	defer dir.Close() // and with it the lock
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", registryDir, err)
	}
	return fn()
}

// claim enters this process as the supervisor of a namespace that is about to be made: the one of that name or, with "", one whose
// name is free. It returns the name.
func claim(netns, removeDir string) (string, error) {
	err := withRegistry(func() error {
		sweepLocked()
		if netns == "" {
			netns = freeNetns()
		}
		path := filepath.Join(registryDir, netns)
		if owner, err := os.ReadFile(path); err == nil {
			return fmt.Errorf("network namespace %s is in use by the cluster of process %s", netns, firstWord(string(owner)))
		}
		if _, err := os.Stat(nsPath(netns)); err == nil {
			return fmt.Errorf("network namespace %s exists and is not that of a cluster", netns)
		}
		text := identity(os.Getpid())
		if removeDir != "" {
			text += "\n" + removeDir
		}
		return os.WriteFile(path, []byte(text), 0o600)
	})
	return netns, err
}

func unclaim(netns string) { os.Remove(filepath.Join(registryDir, netns)) }

// sweep removes what supervisors left behind that were killed: namespaces and directories. Their processes died with them.
func sweep() error {
	return withRegistry(func() error { sweepLocked(); return nil })
}

func sweepLocked() {
	entries, _ := os.ReadDir(registryDir)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(registryDir, e.Name()))
		if err != nil {
			continue // its cluster has just ended
		}
		supervisor, removeDir, _ := strings.Cut(string(text), "\n")
		pid, _ := strconv.Atoi(firstWord(supervisor))
		if pid != 0 && identity(pid) == supervisor {
			continue
		}
		removeClusterNetns(e.Name())
		if filepath.IsAbs(removeDir) {
			os.RemoveAll(removeDir)
		}
		unclaim(e.Name())
	}
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// identity is a process id and its start time, which a later process with the same id does not have; "" when there is none.
func identity(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	return parseIdentity(string(text))
}

// parseIdentity reads proc_pid_stat(5). The name of the command, in parentheses, may contain anything.
func parseIdentity(stat string) string {
	end := strings.LastIndex(stat, ") ")
	if end < 0 {
		return ""
	}
	fields := strings.Fields(stat[end+2:])
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return firstWord(stat) + " " + fields[19]
}

// freeNetns is a name that no network namespace has.
func freeNetns() string {
	var random [3]byte
	for {
		_, _ = rand.Read(random[:]) // never fails
		name := "fw" + hex.EncodeToString(random[:])
		if _, err := os.Stat(nsPath(name)); os.IsNotExist(err) {
			return name
		}
	}
}

var errOwnerEnded = errors.New("the owner has ended")

// untilOwnerEnds gives a context that ends with a process; with 0 it is ctx itself.
func untilOwnerEnds(ctx context.Context, pid int) (context.Context, error) {
	if pid == 0 {
		return ctx, nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("watch the owner, process %d: %w", pid, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // ends with this process, or cancels
		for {
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); err != unix.EINTR {
				cancel(errOwnerEnded)
				return
			}
		}
	}()
	return ctx, nil
}
