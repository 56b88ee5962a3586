// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"fmt"
	"net"
	"testing"
)

// TestTake takes many ports: they differ, and each can be opened, closed and opened again.
func TestTake(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		port := Take(t)
		if seen[port] {
			t.Errorf("%d is given twice", port)
		}
		seen[port] = true
		for range 2 {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
		}
	}
}

// TestTakenPorts has ports that servers listen on: they are not free.
func TestTakenPorts(t *testing.T) {
	stream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if open(stream.Addr().(*net.TCPAddr).Port) == nil {
		t.Error("a server of TCP listens there")
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	if open(packets.LocalAddr().(*net.UDPAddr).Port) == nil {
		t.Error("a server of UDP listens there")
	}
}
