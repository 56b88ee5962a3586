// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong"
	"github.com/fairway-ingress/fairway/internal/kong/admin"
)

func (f *kongTLSFlags) check() error {
	switch {
	case f.ca != "" && f.caFile != "":
		return errors.New("--kong-admin-ca-cert and --kong-admin-ca-cert-file exclude each other: give one of them")
	case f.cert != "" && f.certFile != "" || f.key != "" && f.keyFl != "":
		return errors.New("--kong-admin-tls-client-cert and -key are given as text or as a file, not both")
	case (f.cert+f.certFile == "") != (f.key+f.keyFl == ""):
		return errors.New("--kong-admin-tls-client-cert and --kong-admin-tls-client-key go together")
	}
	_, err := f.config("")
	return err
}

// config is for connections to one gateway.
func (f *kongTLSFlags) config(serverName string) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: cmp.Or(f.serverName, serverName),
		InsecureSkipVerify: f.skipVerify, //nolint:gosec // the admin asks for it
	}
	if f.ca+f.caFile != "" {
		pem, err := textOrFile(f.ca, f.caFile)
		if err != nil {
			return nil, fmt.Errorf("--kong-admin-ca-cert-file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("--kong-admin-ca-cert holds no certificate in PEM")
		}
	}
	if f.cert+f.certFile == "" {
		return c, nil
	}
	if _, err := f.pair(); err != nil {
		return nil, fmt.Errorf("--kong-admin-tls-client-cert and -key: %w", err)
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return f.pair() }
	return c, nil
}

func (f *kongTLSFlags) pair() (*tls.Certificate, error) {
	cert, err := textOrFile(f.cert, f.certFile)
	if err != nil {
		return nil, err
	}
	key, err := textOrFile(f.key, f.keyFl)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	return &pair, err
}

func textOrFile(text, file string) ([]byte, error) {
	if file == "" {
		return []byte(text), nil
	}
	return os.ReadFile(file)
}

// tokenAge is how long a token that was read from its file is good.
const tokenAge = time.Second

// token gives headers with a token that may change.
type token struct {
	header http.Header
	file   string

	mu   sync.Mutex // guards what follows
	at   time.Time
	last http.Header
}

const tokenHeader = "Kong-Admin-Token"

func (t *token) get() (http.Header, error) {
	if t.file == "" {
		return t.header, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.at) < tokenAge {
		return t.last, nil
	}
	text, err := os.ReadFile(t.file)
	if err != nil {
		return nil, fmt.Errorf("--kong-admin-token-file: %w", err)
	}
	t.at, t.last = time.Now(), t.header.Clone()
	t.last.Set(tokenHeader, string(bytes.TrimSpace(text)))
	return t.last, nil
}

// connect gives what makes a client for a gateway.
func (f *kongFlags) connect() (func(kong.Endpoint) (*admin.Client, error), error) {
	header, err := f.header()
	if err != nil {
		return nil, err
	}
	if f.token != "" {
		header.Set(tokenHeader, f.token)
	}
	t := &token{header: header, file: f.tokenFile}
	return func(e kong.Endpoint) (*admin.Client, error) {
		config, err := f.tls.config(e.ServerName)
		if err != nil {
			return nil, err
		}
		return admin.New(admin.Options{
			URL: e.URL, Header: t.get, TLS: config, Workspace: f.workspace, Concurrency: f.concurrency,
			DocumentTimeout: time.Duration(f.timeoutSeconds * float32(time.Second)),
		})
	}, nil
}
