// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// duplex is a connection one half of which can end before the other.
type duplex interface {
	net.Conn
	syscall.Conn
	CloseWrite() error
}

// relay moves bytes both ways until both sides have said all, and then gives nil, or until there is an error. Who has said all may still be answered.
// Neither connection is closed afterwards, but after an error nobody can use them.
func relay(spare *pipes, a, b duplex, toB, toA *meter) error {
	var both sync.WaitGroup
	var back error
	both.Go(func() { back = pass(spare, b, a, toA) })
	err := pass(spare, a, b, toB)
	both.Wait()
	if err == nil {
		err = back
	}
	return err
}

// pass moves bytes one way and then tells the receiver that this was all.
func pass(spare *pipes, from, to duplex, m *meter) error {
	err := move(spare, from, to, m)
	if err == nil {
		err = to.CloseWrite()
	}
	if errors.Is(err, syscall.ENOTCONN) {
		err = nil // it is over already, as the other way will say if that matters
	}
	switch {
	case errors.Is(err, net.ErrClosed): // by us: who did it closes both
	case err != nil:
		abort(from) // the other way would go on for nobody
		abort(to)
	}
	return err
}

func move(spare *pipes, from, to duplex, m *meter) error {
	source, err := from.SyscallConn()
	if err != nil {
		return err
	}
	sink, err := to.SyscallConn()
	if err != nil {
		return err
	}
	return (&flow{from: source, to: sink, pipes: spare, meter: m}).run()
}

// abort closes a connection such that the other side learns that this was not the end that was meant.
func abort(conn net.Conn) {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	_ = conn.Close()
}
