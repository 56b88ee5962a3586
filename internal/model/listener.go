// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
)

// Transport is what a Listener speaks.
type Transport uint8

// The transports. The zero value is for backends of routes, whose transport is of no concern here.
const (
	TCP Transport = iota + 1
	UDP
)

func (t Transport) String() string { return [...]string{"", "TCP", "UDP"}[t] }

// Listener is a port whose connections, or datagrams, are passed on as they are: a TCP or UDP service.
type Listener struct {
	Transport Transport
	Port      uint16
	// Owner is the ConfigMap that asks for the port, Field the place in it.
	Owner Ref
	Field string
	// Backend is where they go. It is shared by the listeners of one port of a Service, and the same pointer as long as its endpoints are the
	// same. It is not among Model.Backends, which are those of routes. Without endpoints connections are closed and datagrams are dropped.
	Backend *Backend
	// AcceptProxy takes the header of the PROXY protocol, version 1 or 2, with which each connection then has to begin. Always false for UDP.
	AcceptProxy bool
	// SendProxy is the version of the header that backends get, 1 or 2; 0 for none. Never 1 for UDP, where each datagram has its header.
	SendProxy uint8
}

// Compare orders listeners by transport and port, which are unique together.
func (l *Listener) Compare(o *Listener) int {
	return cmp.Or(cmp.Compare(l.Transport, o.Transport), cmp.Compare(l.Port, o.Port))
}

// Name gives what a person would call it: "TCP 5432".
func (l *Listener) Name() string { return fmt.Sprintf("%s %d", l.Transport, l.Port) }

// Traits says what is special about it, "" for nothing.
func (l *Listener) Traits() string {
	text := ""
	if l.AcceptProxy {
		text = " {accepts PROXY}"
	}
	if l.SendProxy != 0 {
		text += fmt.Sprintf(" {sends PROXY version %d}", l.SendProxy)
	}
	return text
}
