// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// receiveBuffer is what the kernel may keep of datagrams that a lane has not read yet, as far as it allows (net.core.rmem_max).
const receiveBuffer = 4 << 20

// listen opens a socket for clients. Sockets share an address by SO_REUSEPORT, but not with anybody else: the first is bound before it says so.
func listen(name netip.AddrPort, more bool) (fd int, err error) {
	at := addressOf(name)
	if fd, err = open(at.family()); err != nil {
		return -1, err
	}
	defer func() {
		if err != nil {
			_ = unix.Close(fd)
		}
	}()
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer) // less is no error
	if at.family() == unix.AF_INET6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return -1, err
		}
	}
	if name.Addr().IsUnspecified() {
		if err := tellLocal(fd, at.family()); err != nil {
			return -1, err
		}
	}
	if more {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return -1, err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&at)), uintptr(at.size())); errno != 0 {
		return -1, errno
	}
	if more {
		return fd, nil
	}
	return fd, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
}

// tellLocal makes the kernel say which address a datagram was sent to.
func tellLocal(fd, family int) error {
	if family == unix.AF_INET6 {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
}

// dial opens a socket that speaks with one address only.
func dial(to *address) (int, error) {
	fd, err := open(to.family())
	if err != nil {
		return -1, err
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(to)), uintptr(to.size())); errno != 0 {
		_ = unix.Close(fd)
		return -1, errno
	}
	return fd, nil
}

func open(family int) (int, error) {
	return unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
}

// nameOf gives the address that a socket is bound to.
func nameOf(fd int) (netip.AddrPort, error) {
	var at address
	size := uint32(len(at))
	_, _, errno := unix.Syscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&at)), uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		return netip.AddrPort{}, fmt.Errorf("name of a socket: %w", errno)
	}
	return at.name(), nil
}
