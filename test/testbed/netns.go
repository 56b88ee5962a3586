// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// inside runs a function on a thread of a network namespace. A socket belongs for good to the namespace of the thread that made it.
func inside(netns string, do func() error) error {
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	there, err := os.Open("/run/netns/" + netns)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter network namespace %s: %w", netns, err)
	}
	err = do()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		// The thread stays locked and ends with its goroutine, so that nobody else meets it in the wrong namespace.
		return fmt.Errorf("leave network namespace %s: %w", netns, back)
	}
	runtime.UnlockOSThread()
	return err
}

// Dialer opens connections in a network namespace.
type Dialer struct{ Netns string }

// DialContext dials a literal address inside the namespace.
func (d Dialer) DialContext(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = inside(d.Netns, func() (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Listen opens a TCP listener in a network namespace.
func Listen(netns, address string) (listener net.Listener, err error) {
	err = inside(netns, func() (err error) {
		listener, err = net.Listen("tcp", address)
		return err
	})
	return listener, err
}
