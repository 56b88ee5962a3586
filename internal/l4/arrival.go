// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"bufio"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/pires/go-proxyproto"
)

// arrival is what is known of a connection when it is sent on.
type arrival struct {
	source, destination *net.TCPAddr // of the client, as far as somebody is believed
	name                string       // TLS server name; "" none, or it is no TLS
	read                []byte       // what was read so far, but for a PROXY header
}

// meet reads of a connection what says where it belongs. Until the client speaks, nothing is allocated for it.
func (p *Passthrough) meet(client *net.TCPConn, t *table) (*arrival, error) {
	a := &arrival{source: client.RemoteAddr().(*net.TCPAddr), destination: client.LocalAddr().(*net.TCPAddr)}
	forOwn := a.destination.IP.String() == ownLoopback
	a.destination = &net.TCPAddr{IP: a.destination.IP, Port: 443} // whatever port it is here, for clients it is that of HTTPS
	if err := client.SetReadDeadline(time.Now().Add(p.options.HelloTimeout)); err != nil {
		return nil, err
	}
	if err := awaitData(client); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(client)
	if t.client.ProxyProtocol && !forOwn {
		if err := a.readHeader(client, reader, t); err != nil {
			return nil, err
		}
		if err := client.SetReadDeadline(time.Now().Add(p.options.HelloTimeout)); err != nil {
			return nil, err
		}
	}
	var err error
	if a.name, a.read, err = readHello(reader); err != nil {
		return nil, err
	}
	rest, _ := reader.Peek(reader.Buffered()) // is there: no error
	a.read = append(a.read, rest...)
	return a, client.SetReadDeadline(time.Time{})
}

// awaitData returns when there is something to read, or never will be.
func awaitData(conn *net.TCPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		return err != syscall.EAGAIN //nolint:errorlint // a bare errno
	})
}

// readHeader reads the PROXY header with which a load balancer begins. What it says counts if the load balancer is believed.
func (a *arrival) readHeader(client *net.TCPConn, reader *bufio.Reader, t *table) error {
	if err := client.SetReadDeadline(time.Now().Add(t.client.HeaderTimeout)); err != nil {
		return err
	}
	header, err := proxyproto.Read(reader)
	if err != nil {
		return fmt.Errorf("PROXY header: %w", err)
	}
	source, destination, ok := header.TCPAddrs()
	if ok && header.Command.IsProxy() && t.trusts(a.source.AddrPort().Addr()) {
		a.source, a.destination = source, destination
	}
	return nil
}

// header is the PROXY header for nginx.
func (a *arrival) header() *proxyproto.Header {
	return proxyproto.HeaderProxyFromAddrs(2, a.source, a.destination)
}
