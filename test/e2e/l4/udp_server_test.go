// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// udpServer calls handle for each datagram, one after the other, and sends the answers that it gives.
type udpServer struct {
	conn  *net.UDPConn
	asked atomic.Int64
}

func startUDP(t *testing.T, at string, handle func([]byte) [][]byte) *udpServer {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(at)))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadBuffer(4 << 20) // as much as the system allows: a thousand clients may ask at the same moment
	s := &udpServer{conn: conn}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 1<<16)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			s.asked.Add(1)
			for _, answer := range handle(buffer[:n]) {
				_, _ = conn.WriteToUDPAddrPort(answer, from)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-ended })
	return s
}

func (s *udpServer) address() netip.AddrPort { return s.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// answers gives so many answers to each datagram: a name, and what was said.
func answers(name string, number int) func([]byte) [][]byte {
	return func(text []byte) (list [][]byte) {
		for range number {
			list = append(list, append([]byte(name+":"), text...))
		}
		return list
	}
}

// udpClient is an address that exchanges datagrams with another.
type udpClient struct {
	t *testing.T
	*net.UDPConn
}

// dialUDP gives a client with an address of its own. It hears nobody but whom it asks.
func dialUDP(t *testing.T, address string, port int) *udpClient {
	t.Helper()
	conn, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.ParseIP(address), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &udpClient{t, conn}
}

// exchange gives the answer to a text, or the error: ICMP's, or that nothing came.
func (c *udpClient) exchange(text []byte) (string, error) {
	if _, err := c.Write(text); err != nil {
		return "", err
	}
	return c.hear(patience)
}

func (c *udpClient) hear(within time.Duration) (string, error) {
	_ = c.SetReadDeadline(time.Now().Add(within))
	buffer := make([]byte, 1<<16)
	n, err := c.Read(buffer)
	return string(buffer[:n]), err
}

// ask gives the answer to a text, of which there has to be one.
func (c *udpClient) ask(text string) string {
	c.t.Helper()
	answer, err := c.exchange([]byte(text))
	if err != nil {
		c.t.Fatalf("%.20q: %v", text, err)
	}
	return answer
}

// eventuallyAsk asks until there is an answer: nobody listens for a moment, or it is the port's last.
func (c *udpClient) eventuallyAsk(text string) string {
	c.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		_, _ = c.Write([]byte(text))
		if answer, err := c.hear(100 * time.Millisecond); err == nil {
			return answer
		} else if !errors.Is(err, os.ErrDeadlineExceeded) {
			time.Sleep(5 * time.Millisecond)
		}
	}
	c.t.Fatalf("no answer to %q", text)
	return ""
}

// resolver answers a question of DNS with an address that is made from the name and says who answered.
func resolver(last byte) func([]byte) [][]byte {
	return func(query []byte) [][]byte {
		var m dnsmessage.Message
		if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
			return nil
		}
		q := m.Questions[0]
		m.Response, m.Authoritative = true, true
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60}, Body: &dnsmessage.AResource{A: addressFor(q.Name.String(), last)},
		}}
		answer, err := m.Pack()
		if err != nil {
			return nil
		}
		return [][]byte{answer}
	}
}

// addressFor gives the address of a name, but for its last byte.
func addressFor(name string, last byte) [4]byte {
	sum := 0
	for _, c := range []byte(name) {
		sum = sum*31 + int(c)
	}
	return [4]byte{10, byte(sum >> 8), byte(sum), last}
}

// resolve asks for a name and gives the last byte of the right address.
func (c *udpClient) resolve(id uint16, name string) (byte, error) {
	question := dnsmessage.Question{Name: dnsmessage.MustNewName(name), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}
	query := dnsmessage.Message{Header: dnsmessage.Header{ID: id, RecursionDesired: true}, Questions: []dnsmessage.Question{question}}
	text, err := query.Pack()
	if err != nil {
		return 0, err
	}
	answer, err := c.exchange(text)
	if err != nil {
		return 0, err
	}
	var m dnsmessage.Message
	if err := m.Unpack([]byte(answer)); err != nil {
		return 0, err
	}
	if m.ID != id || !m.Response || len(m.Answers) != 1 || m.Answers[0].Header.Name.String() != name {
		return 0, fmt.Errorf("asked for %s with %d and was told %v", name, id, m)
	}
	body, ok := m.Answers[0].Body.(*dnsmessage.AResource)
	if !ok || body.A != addressFor(name, body.A[3]) {
		return 0, fmt.Errorf("%s has the address %v", name, m.Answers[0].Body)
	}
	return body.A[3], nil
}
