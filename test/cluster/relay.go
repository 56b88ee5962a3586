// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
)

// relay makes the API server reachable on the machine's own loopback, so that kubectl works from any shell.
func (s *supervisor) relay() error {
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
	if err != nil {
		return err
	}
	s.port = ln.Addr().(*net.TCPAddr).Port
	go func() {
		for {
			down, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer down.Close()
				var up net.Conn
				if err := inNetns(s.netns, func() (err error) {
					up, err = net.Dial("tcp", "127.0.0.1:6443")
					return err
				}); err != nil {
					return
				}
				defer up.Close()
				go func() { io.Copy(up, down); up.(*net.TCPConn).CloseWrite() }()
				io.Copy(down, up)
			}()
		}
	}()
	return nil
}
