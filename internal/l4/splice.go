// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// pipeSize is how much a pipe holds if the system lets it. More saves few calls and leaves the processor's cache.
	pipeSize = 256 << 10
	// sparePipes is how many empty pipes are kept. Only connections that move bytes at this very moment hold one.
	sparePipes = 64
)

// pipes are those through which bytes go from socket to socket without being copied, see splice(2).
type pipes struct {
	mu    sync.Mutex // guards spare
	spare []*pipe
}

// pipe is an empty one, unless its holder has filled it.
type pipe struct{ out, in int }

// get gives an empty pipe. The error says that the process or the system has no more files.
func (p *pipes) get() (*pipe, error) {
	p.mu.Lock()
	if n := len(p.spare); n > 0 {
		last := p.spare[n-1]
		p.spare = p.spare[:n-1]
		p.mu.Unlock()
		return last, nil
	}
	p.mu.Unlock()
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("open a pipe: %w", err)
	}
	_, _ = unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, pipeSize) // a user's pipes may have so many pages together; a smaller one does too
	return &pipe{ends[0], ends[1]}, nil
}

// put takes an empty pipe back.
func (p *pipes) put(empty *pipe) {
	p.mu.Lock()
	if len(p.spare) < sparePipes {
		p.spare = append(p.spare, empty)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	empty.close()
}

func (p *pipe) close() { _, _ = unix.Close(p.out), unix.Close(p.in) }

// meter counts bytes as they go. The second counter is shared with others.
type meter struct {
	own   atomic.Uint64
	total *atomic.Uint64 // nil for none
	begun time.Time      // when the first byte went; to be read when none goes any more
}

func (m *meter) add(n int) {
	if m.own.Add(uint64(n)) == uint64(n) {
		m.begun = time.Now()
	}
	if m.total != nil {
		m.total.Add(uint64(n))
	}
}

// flow moves the bytes of a connection one way. It holds a pipe, or a buffer where there is no pipe to be had, only while there is something to move.
type flow struct {
	from, to syscall.RawConn
	pipes    *pipes
	meter    *meter

	pipe   *pipe
	buffer []byte // nil as long as there is a pipe
	left   int    // in the pipe, or in the buffer behind what was sent
	sent   int    // of the buffer
	err    error
}

// buffers are for flows without a pipe.
var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// run moves bytes until the sender has said all, then it gives nil, or until there is an error.
func (f *flow) run() error {
	defer f.drop()
	fill, empty := f.fill, f.empty // once, as each costs an allocation
	for {
		if err := f.from.Read(fill); err != nil {
			return err
		}
		if f.err != nil || f.left == 0 {
			return f.err
		}
		for f.left > 0 {
			if err := f.to.Write(empty); err != nil {
				return err
			}
			if f.err != nil {
				return f.err
			}
		}
	}
}

// fill takes what the sender has said. It gives false when that is nothing yet; left stays 0 when nothing will come any more.
func (f *flow) fill(fd uintptr) bool {
	if f.pipe == nil && f.buffer == nil {
		if f.pipe, f.err = f.pipes.get(); f.err != nil {
			f.buffer, f.err = *buffers.Get().(*[]byte), nil
		}
	}
	var n int
	var err error
	for {
		if f.pipe != nil {
			n, err = splice(int(fd), f.pipe.in)
		} else {
			n, err = unix.Read(int(fd), f.buffer)
		}
		if err != unix.EINTR { //nolint:errorlint // a bare errno
			break
		}
	}
	if err == unix.EAGAIN { //nolint:errorlint // a bare errno
		f.release()
		return false
	}
	f.left, f.sent, f.err = max(n, 0), 0, err
	return true
}

// empty gives the receiver what there is. It gives false when the receiver takes nothing for now.
func (f *flow) empty(fd uintptr) bool {
	var n int
	var err error
	for {
		if f.pipe != nil {
			n, err = splice(f.pipe.out, int(fd))
		} else {
			n, err = unix.Write(int(fd), f.buffer[f.sent:f.sent+f.left])
		}
		if err != unix.EINTR { //nolint:errorlint // a bare errno
			break
		}
	}
	switch {
	case err == unix.EAGAIN: //nolint:errorlint // a bare errno
		return false
	case err == nil && n == 0:
		err = io.ErrUnexpectedEOF // what was put into the pipe is there
	case err == nil:
		f.left, f.sent = f.left-n, f.sent+n
		f.meter.add(n)
	}
	f.err = err
	return true
}

// release gives back an empty pipe or buffer, until there is something to move again.
func (f *flow) release() {
	if f.pipe != nil {
		f.pipes.put(f.pipe)
	}
	if b := f.buffer; b != nil {
		buffers.Put(&b)
	}
	f.pipe, f.buffer = nil, nil
}

// drop is release at the end, when the pipe may not be empty.
func (f *flow) drop() {
	if f.pipe != nil && f.left > 0 {
		f.pipe.close()
		f.pipe = nil
	}
	f.release()
}

func splice(from, to int) (int, error) {
	n, err := unix.Splice(from, nil, to, nil, pipeSize, unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
	return int(n), err
}
