// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A container that opens ports below 1024 without root is given CAP_NET_BIND_SERVICE. In the image the program holds it by a file capability
// that is permitted, not effective: were it effective, the kernel would refuse to start the program where the container lacks it. So
// whoever opens such a port takes it into effect: nginx by inheriting it, the controller for the moment of a check.

const lowPorts = 1 << unix.CAP_NET_BIND_SERVICE

// capabilities of the calling thread.
func capabilities() (unix.CapUserHeader, [2]unix.CapUserData, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	err := unix.Capget(&header, &sets[0])
	return header, sets, err
}

// attributes of nginx' process: a process group of its own, and the capability to open low ports if this process has it. Root has all
// anyway, and keeps none for its workers.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if _, sets, err := capabilities(); os.Geteuid() != 0 && err == nil && sets[0].Permitted&lowPorts != 0 {
		a.AmbientCaps = []uintptr{unix.CAP_NET_BIND_SERVICE}
	}
	return a
}

// WithLowPorts calls do with the capability to open ports below 1024 in effect, if this process has it.
func WithLowPorts(do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	header, sets, err := capabilities()
	if err != nil || sets[0].Permitted&lowPorts == 0 || sets[0].Effective&lowPorts != 0 {
		return do()
	}
	raised := sets
	raised[0].Effective |= lowPorts
	if unix.Capset(&header, &raised[0]) != nil {
		return do()
	}
	defer func() { _ = unix.Capset(&header, &sets[0]) }() // giving up what is permitted cannot fail
	return do()
}
