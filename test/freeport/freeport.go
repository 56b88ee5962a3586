// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package freeport gives tests ports that stay free until they open them, also when they close them and open them again.
//
// A port that the kernel chose for a listener that was then closed may be given to anybody next: to a server of another test, or to a
// connection on its way out. The ports of this package are none that the kernel chooses. And no two tests of this machine get the same: who
// has one also has an abstract unix socket with its number, which the kernel takes away when the process ends, however it ends. That makes
// the package one for Linux.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Take gives a port of TCP and UDP that is the test's own until it ends. Nobody listens there.
func Take(t testing.TB) int {
	t.Helper()
	port, release, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return port
}

// Reserve gives a port of TCP and UDP that is the caller's own until it is released or the process ends.
func Reserve() (port int, release func(), err error) {
	first, last, err := span()
	if err != nil {
		return 0, nil, err
	}
	for range 1000 {
		port := first + rand.IntN(last-first+1)
		release, err := claim(port)
		if err != nil {
			continue // it is another test's
		}
		if err := open(port); err == nil {
			return port, release, nil
		}
		release()
	}
	return 0, nil, fmt.Errorf("no free port from %d to %d", first, last)
}

// claim takes the socket with the port's number. A net.Listener would be closed when nobody refers to it any more.
func claim(port int) (release func(), err error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	release = func() { _ = unix.Close(fd) }
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("@fairway-test-port-%d", port)}); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// open tells whether nobody listens on a port, of whatever address.
func open(port int) error {
	address := fmt.Sprintf(":%d", port)
	stream, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	packets, err := net.ListenPacket("udp", address)
	if err == nil {
		err = packets.Close()
	}
	return errors.Join(err, stream.Close())
}

// span are the ports to choose from: those above the usual ones of servers and below the ones that the kernel chooses.
func span() (first, last int, err error) {
	const setting = "/proc/sys/net/ipv4/ip_local_port_range"
	text, err := os.ReadFile(setting)
	if err != nil {
		return 0, 0, err
	}
	var low int
	if _, err := fmt.Sscan(string(text), &low); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", setting, err)
	}
	first, last = 11000, min(low, 30000)-1 // Kubernetes' node ports begin at 30000
	if last < first+1000 {
		return 0, 0, fmt.Errorf("%s: tests need ports from %d on that the kernel does not choose", setting, first)
	}
	return first, last, nil
}
