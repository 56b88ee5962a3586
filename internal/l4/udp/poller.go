// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for many sockets at a time: an epoll(7) whose own readiness Go's runtime waits for, so that a lane that has nothing to do occupies no
// thread. One goroutine may use it; wake is for the others.
type poller struct {
	file   *os.File
	raw    syscall.RawConn
	epoll  int
	waker  int // eventfd(2)
	events [2 * batchSize]unix.EpollEvent
	found  int
	err    error
	look   func(uintptr) bool // p.poll, made once
}

func newPoller() (*poller, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if err := unix.SetNonblock(epoll, true); err != nil {
		_ = unix.Close(epoll)
		return nil, fmt.Errorf("epoll: %w", err)
	}
	p := &poller{file: os.NewFile(uintptr(epoll), "epoll"), epoll: epoll, waker: -1}
	p.look = func(uintptr) bool { return p.poll() }
	if p.raw, err = p.file.SyscallConn(); err == nil {
		if p.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err == nil {
			err = p.add(p.waker)
		}
	}
	if err != nil {
		p.close()
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return p, nil
}

// add watches a socket for something to read. Closing it ends that.
func (p *poller) add(fd int) error {
	return unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// poll looks for sockets that are ready, without waiting; p.events[:p.found] are they.
func (p *poller) poll() bool {
	for {
		p.found, p.err = unix.EpollWait(p.epoll, p.events[:], 0)
		if p.err != unix.EINTR { //nolint:errorlint // a bare errno
			break
		}
		p.found = 0
	}
	return p.found != 0 || p.err != nil
}

// wait returns when sockets are ready or a moment has come; the zero time never comes.
func (p *poller) wait(until time.Time) error {
	if p.poll() {
		return p.err
	}
	if err := p.file.SetReadDeadline(until); err != nil {
		return err
	}
	if err := p.raw.Read(p.look); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return p.err
}

// wake makes wait return. It may be called at any time before close.
func (p *poller) wake() { _, _ = unix.Write(p.waker, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// woken takes note of all wakes so far.
func (p *poller) woken() {
	var count [8]byte
	_, _ = unix.Read(p.waker, count[:])
}

func (p *poller) close() {
	_ = p.file.Close()
	if p.waker >= 0 {
		_ = unix.Close(p.waker)
	}
}
