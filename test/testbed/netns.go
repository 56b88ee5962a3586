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

// Dialer opens connections in a network namespace: a socket belongs for good to the namespace of the thread that made it.
type Dialer struct{ Netns string }

// DialContext dials a literal address inside the namespace.
func (d Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	defer home.Close()
	there, err := os.Open("/run/netns/" + d.Netns)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("enter network namespace %s: %w", d.Netns, err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		// The thread stays locked and ends with its goroutine, so that nobody else meets it in the wrong namespace.
		return nil, fmt.Errorf("leave network namespace %s: %w", d.Netns, back)
	}
	runtime.UnlockOSThread()
	return conn, err
}
