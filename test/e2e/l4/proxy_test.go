// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/pires/go-proxyproto"

	"github.com/fairway-ingress/fairway/test/freeport"
)

// tellsHeader is a server that reads a PROXY header, if there is one, and says what it was and what came behind it.
func tellsHeader(conn *net.TCPConn) {
	reader := bufio.NewReader(conn)
	header, err := proxyproto.Read(reader)
	text := "no header"
	if err == nil {
		text = fmt.Sprintf("v%d %s to %s", header.Version, header.SourceAddr, header.DestinationAddr)
	}
	line, _ := reader.ReadString('\n')
	fmt.Fprintf(conn, "%s: %s", text, line)
}

// TestProxyProtocol takes headers of both versions off, and puts them on.
func TestProxyProtocol(t *testing.T) {
	plain, in, inOut, inOut2, out, out2 := freeport.Take(t), freeport.Take(t), freeport.Take(t), freeport.Take(t), freeport.Take(t), freeport.Take(t)
	o := to(plain, server(t, "127.0.0.1:0", tellsHeader))
	o.tcp[in], o.tcp[inOut], o.tcp[inOut2] = "default/one:1000:PROXY", "default/one:1000:PROXY:PROXY", "default/one:1000:PROXY:PROXYv2"
	o.tcp[out], o.tcp[out2] = "default/one:1000::PROXY", "default/one:1000::PROXYv2"
	o.settings["proxy-real-ip-cidr"] = "127.0.0.0/8"
	c := start(t, o)
	four := proxyproto.HeaderProxyFromAddrs(1, tcpAddr("192.0.2.1:1111"), tcpAddr("192.0.2.2:2222"))
	six := proxyproto.HeaderProxyFromAddrs(1, tcpAddr("[2001:db8::1]:1111"), tcpAddr("[2001:db8::2]:2222"))
	none := &proxyproto.Header{Version: 2, Command: proxyproto.LOCAL, TransportProtocol: proxyproto.UNSPEC}
	for _, test := range []struct {
		name    string
		port    int
		header  *proxyproto.Header
		version byte
		want    string // of the header, %s for the client's own address; "" when the connection is closed
	}{
		{"as they are", plain, nil, 0, "no header"},
		{"sends version 1", out, nil, 0, "v1 %s to 127.0.0.1:" + fmt.Sprint(out)},
		{"sends version 2", out2, nil, 0, "v2 %s to 127.0.0.1:" + fmt.Sprint(out2)},
		{"takes version 1", in, four, 1, "no header"},
		{"takes version 2", in, four, 2, "no header"},
		{"takes version 1, sends 1", inOut, four, 1, "v1 192.0.2.1:1111 to 192.0.2.2:2222"},
		{"takes version 2, sends 1", inOut, four, 2, "v1 192.0.2.1:1111 to 192.0.2.2:2222"},
		{"takes version 1, sends 2", inOut2, four, 1, "v2 192.0.2.1:1111 to 192.0.2.2:2222"},
		{"takes version 2, sends 2", inOut2, four, 2, "v2 192.0.2.1:1111 to 192.0.2.2:2222"},
		{"IPv6, version 1", inOut, six, 1, "v1 [2001:db8::1]:1111 to [2001:db8::2]:2222"},
		{"IPv6, version 2", inOut2, six, 2, "v2 [2001:db8::1]:1111 to [2001:db8::2]:2222"},
		{"a header that names nobody", inOut, none, 2, "v1 %s to 127.0.0.1:" + fmt.Sprint(inOut)},
		{"a header that is missing", in, nil, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := connect(t, test.port)
			var first []byte
			if test.header != nil {
				header := *test.header
				header.Version = test.version
				var err error
				if first, err = header.Format(); err != nil {
					t.Fatal(err)
				}
			}
			_, _ = conn.Write(append(first, "hello there\n"...)) // in one packet
			got, _ := conn.line()
			want := ""
			if test.want != "" {
				want = test.want + ": hello there"
			}
			if own := conn.LocalAddr().String(); got != want && got != fmt.Sprintf(want, own) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	c.Eventually("the missing header is counted", func() bool { return c.Metric("fairway_stream_connections_total", `outcome="bad-header"`) == 1 })

	o.settings["proxy-real-ip-cidr"] = "192.0.2.0/24"
	c.apply(o)
	first, err := four.Format()
	if err != nil {
		t.Fatal(err)
	}
	c.Eventually("a sender that is not believed is named itself", func() bool {
		conn := connect(t, inOut)
		defer conn.Close()
		_, _ = conn.Write(append(first, "hello\n"...))
		got, _ := conn.line()
		return got == fmt.Sprintf("v1 %s to 127.0.0.1:%d: hello", conn.LocalAddr(), inOut)
	})
}

func tcpAddr(text string) *net.TCPAddr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(text)) }
