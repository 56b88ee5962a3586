// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"os"
	"time"
)

// sniffer is a listener that turns connections that begin with a TLS record
// into TLS connections.
type sniffer struct {
	net.Listener
	config *tls.Config
	ready  chan net.Conn
	closed chan struct{}
	err    error
}

func newSniffer(ln net.Listener, config *tls.Config) *sniffer {
	s := &sniffer{Listener: ln, config: config, ready: make(chan net.Conn), closed: make(chan struct{})}
	go func() {
		defer close(s.closed)
		for {
			c, err := ln.Accept()
			if err != nil {
				s.err = err
				return
			}
			go s.sniff(c)
		}
	}()
	return s
}

func (s *sniffer) sniff(c net.Conn) {
	c.SetReadDeadline(time.Now().Add(time.Minute))
	br := bufio.NewReaderSize(c, 4096)
	first, err := br.Peek(1)
	if err != nil {
		c.Close()
		return
	}
	c.SetReadDeadline(time.Time{})
	var conn net.Conn = &bufferedConn{c, br}
	if first[0] == 0x16 {
		conn = tls.Server(conn, s.config)
	}
	select {
	case s.ready <- conn:
	case <-s.closed:
		c.Close()
	}
}

func (s *sniffer) Accept() (net.Conn, error) {
	select {
	case c := <-s.ready:
		return c, nil
	case <-s.closed:
		return nil, s.err
	}
}

type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// certificate loads TLS_CERT_FILE and TLS_KEY_FILE, or makes a self-signed
// one.
func certificate() (tls.Certificate, error) {
	if file := os.Getenv("TLS_CERT_FILE"); file != "" {
		return tls.LoadX509KeyPair(file, os.Getenv("TLS_KEY_FILE"))
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "echo"}, DNSNames: []string{"echo", "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
