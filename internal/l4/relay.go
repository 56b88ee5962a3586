// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"io"
	"net"
	"sync"
)

// duplex is a connection one half of which can end before the other.
type duplex interface {
	net.Conn
	CloseWrite() error
}

// relay copies both ways until both sides have said all, or one of them failed. Who has said all may still be answered.
func relay(a, b duplex) {
	var both sync.WaitGroup
	both.Go(func() { pass(a, b) })
	both.Go(func() { pass(b, a) })
	both.Wait()
}

// pass copies one way. net.TCPConn splices to and from TCP and unix sockets.
func pass(from, to duplex) {
	if _, err := io.Copy(to, from); err == nil && to.CloseWrite() == nil {
		return
	}
	_ = from.Close() // the other way would go on for nobody
	_ = to.Close()
}
