// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/pires/go-proxyproto"
)

// origin is where a connection comes from and where it was sent, as far as somebody is believed.
type origin struct {
	source, destination *net.TCPAddr
	said                [2]*net.TCPAddr // by the PROXY header, whoever sent it
	read                []byte          // of the client, behind that header
}

// receiveHeader reads the PROXY header with which a connection begins. What it says counts if its sender is believed. Until the client speaks,
// nothing is allocated for it.
func receiveHeader(client *net.TCPConn, trusted []netip.Prefix, patience time.Duration) (origin, error) {
	o := origin{source: client.RemoteAddr().(*net.TCPAddr), destination: client.LocalAddr().(*net.TCPAddr)}
	if err := client.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return o, err
	}
	if err := awaitData(client); err != nil {
		return o, err
	}
	reader := bufio.NewReader(client)
	header, err := proxyproto.Read(reader)
	if err != nil {
		return o, fmt.Errorf("PROXY header: %w", err)
	}
	source, destination, ok := header.TCPAddrs()
	if ok && header.Command.IsProxy() {
		o.said = [2]*net.TCPAddr{source, destination}
		if isIn(o.source.AddrPort().Addr(), trusted) {
			o.source, o.destination = source, destination
		}
	}
	o.read, _ = reader.Peek(reader.Buffered()) // is there: no error
	return o, client.SetReadDeadline(time.Time{})
}

// sendHeader tells the server where the connection comes from.
func (o origin) sendHeader(server *net.TCPConn, version byte) error {
	_, err := proxyproto.HeaderProxyFromAddrs(version, o.source, o.destination).WriteTo(server)
	return err
}

func isIn(address netip.Addr, networks []netip.Prefix) bool {
	address = address.Unmap()
	for _, network := range networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}
