// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	batchSize    = 32
	datagramSize = 1 << 16 // no datagram is longer
)

// message is struct mmsghdr of recvmmsg(2) and sendmmsg(2).
type message struct {
	header unix.Msghdr
	length uint32 // of what was received
}

// batch is room for datagrams, each with the address it came from or goes to, and with the one of ours.
type batch struct {
	messages [batchSize]message
	vectors  [batchSize]unix.Iovec
	names    [batchSize]address
	controls [batchSize]control
	content  []byte
	used     int // of a batch that is filled in steps
}

func newBatch() *batch {
	b := &batch{content: make([]byte, batchSize*datagramSize)}
	for i := range b.messages {
		b.vectors[i].Base = &b.content[i*datagramSize]
		b.messages[i].header.Iov = &b.vectors[i]
		b.messages[i].header.SetIovlen(1)
	}
	return b
}

// datagram is what was received into a place.
func (b *batch) datagram(i int) []byte {
	return b.content[i*datagramSize:][:b.messages[i].length]
}

// receive fills places from one on with what is there to read, without waiting. Names and local addresses come with it if asked for.
func (b *batch) receive(fd, from int, named bool) (int, error) {
	for i := from; i < batchSize; i++ {
		header := &b.messages[i].header
		header.Name, header.Namelen, header.Control = nil, 0, nil
		header.SetControllen(0)
		if named {
			header.Name, header.Namelen, header.Control = &b.names[i][0], uint32(len(b.names[i])), &b.controls[i][0]
			header.SetControllen(len(b.controls[i]))
		}
		b.vectors[i].SetLen(datagramSize)
	}
	first := &b.messages[from]
	n, _, err := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(first)), uintptr(batchSize-from), unix.MSG_DONTWAIT, 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}

// local gives the address of ours that a received datagram was sent to, if the kernel told it.
func (b *batch) local(i int) local { return b.controls[i].read(int(b.messages[i].header.Controllen)) }

// address says where the datagram in a place goes, and from which address of ours.
func (b *batch) address(i int, to *address, from local) {
	header := &b.messages[i].header
	b.vectors[i].SetLen(int(b.messages[i].length))
	b.names[i] = *to
	header.Name, header.Namelen = &b.names[i][0], to.size()
	header.Control = nil
	header.SetControllen(0)
	if from != (local{}) {
		header.Control = &b.controls[i][0]
		header.SetControllen(b.controls[i].write(to.family(), from))
	}
}

// outbox is room to send datagrams that lie elsewhere, each with a header of the proxy's before it.
type outbox struct {
	messages [batchSize]message
	vectors  [batchSize][2]unix.Iovec
}

// put makes a datagram the i-th.
func (o *outbox) put(i int, header, content []byte) {
	vectors := &o.vectors[i]
	n := 0
	if len(header) > 0 {
		vectors[n].Base = &header[0]
		vectors[n].SetLen(len(header))
		n++
	}
	vectors[n].Base = unsafe.SliceData(content)
	vectors[n].SetLen(len(content))
	o.messages[i].header.Iov = &vectors[0]
	o.messages[i].header.SetIovlen(n + 1)
}

// sendOne is send for a single message without an address, which is the usual case and cheaper so.
func sendOne(fd int, m *message) error {
	v := m.header.Iov
	_, _, err := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(v.Base)), uintptr(v.Len), unix.MSG_DONTWAIT, 0, 0)
	if err != 0 {
		return err
	}
	return nil
}

// send sends as many as go without waiting. It gives an error only if not even the first did.
func send(fd int, messages []message) (int, error) {
	if m := &messages[0]; len(messages) == 1 && m.header.Name == nil && m.header.Iovlen == 1 {
		if err := sendOne(fd, m); err != nil {
			return 0, err
		}
		return 1, nil
	}
	n, _, err := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&messages[0])), uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}

// room is what a lane needs while it works.
type room struct {
	clients *batch // read from clients
	answers *batch // read from endpoints, on their way to clients
	outbox  outbox // on their way to endpoints
}

// Memory keeps room for datagrams between the moments of work, for any number of ports. It is safe for concurrent use.
type Memory struct{ free chan *room }

// NewMemory gives an empty one. It never keeps more than as many lanes can use at the same time.
func NewMemory() *Memory { return &Memory{free: make(chan *room, runtime.GOMAXPROCS(0))} }

func (m *Memory) get() *room {
	select {
	case r := <-m.free:
		return r
	default:
		return &room{clients: newBatch(), answers: newBatch()}
	}
}

func (m *Memory) put(r *room) {
	select {
	case m.free <- r:
	default:
	}
}
