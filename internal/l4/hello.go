// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// maxHello is how much of a connection is read in search of a ClientHello: crypto/tls takes messages of 64 KiB, which a client may cut into records of
// few bytes, each with a header of 5.
const maxHello = 128 << 10

// errFound ends the handshake of readHello, which has then seen what it was begun for.
var errFound = errors.New("found the ClientHello")

// readHello reads from a connection until it knows the server name of a TLS ClientHello, lower case and without a final dot, "" when there is none. With
// it, or with whatever is no ClientHello, come the bytes that were read. The error is that of the connection, if nothing more can be read of it.
func readHello(r io.Reader) (name string, read []byte, err error) {
	recorder := &recorder{reader: r, left: maxHello}
	found := false
	handshake := tls.Server(recorder, &tls.Config{
		// The outer name is meant where a client encrypts an inner hello (ECH): the keys for that are the backend's.
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name, found = hello.ServerName, true
			return nil, errFound
		},
	})
	_ = handshake.Handshake() // it always fails: with errFound, with what the connection failed with, or because this is no TLS
	if !found && recorder.failed != nil {
		return "", recorder.read, recorder.failed
	}
	return strings.ToLower(strings.TrimSuffix(name, ".")), recorder.read, nil
}

// recorder is the connection that crypto/tls sees: it keeps what is read, up to a bound, and writes nothing.
type recorder struct {
	reader io.Reader
	left   int
	read   []byte
	failed error
}

func (c *recorder) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errTooLong
	}
	n, err := c.reader.Read(p[:min(len(p), c.left)])
	c.left -= n
	c.read = append(c.read, p[:n]...)
	if err != nil {
		c.failed = err
	}
	return n, err
}

var errTooLong = errors.New("the ClientHello is too long")

func (c *recorder) Write(p []byte) (int, error)      { return len(p), nil } // alerts, which are not ours to send
func (c *recorder) Close() error                     { return nil }
func (c *recorder) LocalAddr() net.Addr              { return nil }
func (c *recorder) RemoteAddr() net.Addr             { return nil }
func (c *recorder) SetDeadline(time.Time) error      { return nil }
func (c *recorder) SetReadDeadline(time.Time) error  { return nil }
func (c *recorder) SetWriteDeadline(time.Time) error { return nil }
