// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"
)

// server runs handle for each connection that it accepts, and gives its address.
func server(t *testing.T, at string, handle func(*net.TCPConn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			go func() { defer conn.Close(); handle(conn.(*net.TCPConn)) }()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// echo says back all it is told.
func echo(conn *net.TCPConn) { _, _ = io.Copy(conn, conn) }

// named says its name first.
func named(name string) func(*net.TCPConn) {
	return func(conn *net.TCPConn) {
		fmt.Fprintln(conn, name)
		echo(conn)
	}
}

// client is a connection that says and hears lines.
type client struct {
	*net.TCPConn
	reader *bufio.Reader
}

func dial(port int) (*client, error) { return dialAt("127.0.0.1", port) }

func dialAt(address string, port int) (*client, error) {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(address, fmt.Sprint(port)), patience)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &client{conn.(*net.TCPConn), bufio.NewReader(conn)}, nil
}

// connect is a dial that must work.
func connect(t *testing.T, port int) *client {
	t.Helper()
	c, err := dial(port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// line hears a line, without its end.
func (c *client) line() (string, error) {
	text, err := c.reader.ReadString('\n')
	if err != nil {
		return text, err
	}
	return text[:len(text)-1], nil
}

// ask says a line to an echo and demands it back.
func (c *client) ask(text string) error {
	if _, err := fmt.Fprintln(c, text); err != nil {
		return err
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	switch answer, err := c.line(); {
	case err != nil:
		return err
	case answer != text:
		return fmt.Errorf("%q came back as %q", text, answer)
	}
	return nil
}

// name connects and gives the name of the server there, "" when there is none.
func name(port int) string {
	c, err := dial(port)
	if err != nil {
		return ""
	}
	defer c.Close()
	text, _ := c.line()
	return text
}

// refused tells whether nobody listens on a port.
func refused(port int) bool {
	c, err := dial(port)
	if err == nil {
		c.Close()
	}
	return err != nil
}
