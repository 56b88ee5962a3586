// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// processSpec is what the internal "container" command gets: how to set up
// the process's namespaces and what to execute then.
type processSpec struct {
	Netns    string
	Hostname string
	Scratch  string // directory for the writable layer's mount point
	Files    map[string]string
	Mounts   []mount
	Dir      string
	Argv     []string
	Env      []string
}

type mount struct {
	Source, Target string
	ReadOnly       bool
}

// runContainer replaces this process with a container's program. The program
// sees the machine's file system through an overlay, so that what it writes
// and what is mounted for it stays its own.
func runContainer(args []string) error {
	runtime.LockOSThread()
	var s processSpec
	b, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	f, err := os.Open(nsPath(s.Netns))
	if err != nil {
		return err
	}
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("setns: %w", err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	unix.Sethostname([]byte(s.Hostname))
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	root := filepath.Join(s.Scratch, "root")
	if err := unix.Mount("tmpfs", s.Scratch, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("scratch: %w", err)
	}
	for _, d := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(filepath.Join(s.Scratch, d), 0o755); err != nil {
			return err
		}
	}
	opts := fmt.Sprintf("lowerdir=/,upperdir=%s/upper,workdir=%s/work", s.Scratch, s.Scratch)
	if err := unix.Mount("overlay", root, "overlay", 0, opts); err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	if err := unix.Mount("proc", root+"/proc", "proc", 0, ""); err != nil { // of the process's own PID namespace
		return fmt.Errorf("proc: %w", err)
	}
	for _, d := range []string{"/sys", "/dev"} {
		if err := unix.Mount(d, root+d, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("bind %s: %w", d, err)
		}
	}
	// Sources are opened before the change of root and mounted after it, so
	// that links in target paths (/var/run) stay inside.
	sources := make([]int, len(s.Mounts))
	for i, m := range s.Mounts {
		if sources[i], err = unix.Open(m.Source, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("volume %s: %w", m.Source, err)
		}
	}
	if err := unix.Chroot(root); err != nil {
		return err
	}
	os.Chdir("/")
	for name, content := range s.Files {
		os.Remove(name)
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	for i, m := range s.Mounts {
		if err := bind(fmt.Sprintf("/proc/self/fd/%d", sources[i]), m); err != nil {
			return fmt.Errorf("mount %s: %w", m.Target, err)
		}
	}
	if err := os.Chdir(s.Dir); err != nil {
		os.Chdir("/")
	}
	for _, e := range s.Env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			os.Setenv("PATH", path)
		}
	}
	program, err := exec.LookPath(s.Argv[0])
	if err != nil {
		return err
	}
	return unix.Exec(program, s.Argv, s.Env)
}

// bind mounts source at the mount's target, which it creates if need be.
func bind(source string, m mount) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(m.Target, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(m.Target), 0o755); err == nil {
		var f *os.File
		if f, err = os.OpenFile(m.Target, os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			f.Close()
		}
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(source, m.Target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if m.ReadOnly {
		return unix.Mount("", m.Target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
	return nil
}
