// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// asContainer makes this test binary the program of a container that may open the low port that it names.
const asContainer = "FAIRWAY_TEST_AS_CONTAINER"

func TestMain(m *testing.M) {
	if address := os.Getenv(asContainer); address != "" {
		if err := inContainer(address, os.Getenv("DIR")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// inContainer begins with the capability permitted and not effective, as the image's file capability gives it.
func inContainer(address, dir string) error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	return onlyPermitted(func() error {
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return errors.New("the port opens without the capability in effect")
		} else if !errors.Is(err, syscall.EACCES) {
			return err
		}
		open := func() error {
			l, err := net.Listen("tcp", address)
			if err != nil {
				return err
			}
			return l.Close()
		}
		if err := WithLowPorts(open); err != nil {
			return fmt.Errorf("with the capability in effect: %w", err)
		}
		if err := open(); !errors.Is(err, syscall.EACCES) {
			return fmt.Errorf("afterwards the capability should not be in effect any more: %w", err)
		}
		// What nginx is started with: it has the capability in effect.
		return Test(context.Background(), Command{Binary: filepath.Join(dir, "nginx"), Dir: dir}, address)
	})
}

// onlyPermitted takes capabilities out of effect on this thread, which does the rest.
func onlyPermitted(do func() error) error {
	runtime.LockOSThread()
	header, sets, err := capabilities()
	if err != nil {
		return err
	}
	sets[0].Effective, sets[0].Inheritable = 0, 0
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return err
	}
	return do()
}

func TestLowPorts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to give a process capabilities")
	}
	dir, err := os.MkdirTemp("", "fairway-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	// Stands in for nginx: fails unless CAP_NET_BIND_SERVICE, bit 10, is in effect.
	const nginx = "#!/bin/sh\nset -- $(grep CapEff /proc/self/status)\n[ $(( 0x$2 & 1024 )) != 0 ] || { echo not in effect: $2; exit 1; }\n"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "nginx"), []byte(nginx), 0o755), os.WriteFile(filepath.Join(dir, "program"), program, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(filepath.Join(dir, "program"))
	c.Dir = dir
	c.Env = []string{asContainer + "=" + lowAddress(t), "DIR=" + dir, "PATH=/usr/bin:/bin"}
	c.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: []uintptr{unix.CAP_NET_BIND_SERVICE},
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, strings.TrimSpace(string(out)))
	}
}

// lowAddress gives one with a free port below 1024.
func lowAddress(t *testing.T) string {
	for port := 1023; port > 600; port-- {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Skip("no low port is free")
	return ""
}
