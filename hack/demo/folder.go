// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// folder is the stage of `make demo`: manifests in a folder, and sample servers in this process.
type folder struct {
	options
	certificate string
	cleanup     []func()
}

// onFolder starts the sample servers and makes the certificate.
func onFolder(o options) (stage, error) {
	f := &folder{options: o, certificate: filepath.Join(o.manifests, "generated-tls.crt")}
	for _, b := range backends {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(b.port)))
		if err != nil {
			f.close()
			return nil, fmt.Errorf("start the sample server %s (its port stands in %s): %w", b.name, filepath.Join(o.manifests, "backends.yaml"), err)
		}
		f.cleanup = append(f.cleanup, func() { listener.Close() })
		go b.serve(listener) // ends with the listener
	}
	manifest := filepath.Join(o.manifests, "generated-tls.yaml")
	f.cleanup = append(f.cleanup, func() {
		if err := errors.Join(os.Remove(manifest), os.Remove(f.certificate)); err != nil {
			fmt.Fprintln(os.Stderr, "demo:", err)
		}
	})
	if err := writeSecret(manifest, f.certificate, "secure.localhost"); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *folder) controller(args []string) []string {
	return append([]string{f.fairway, "controller", "--manifests", f.manifests, "--allow-local-endpoints"}, args...)
}

func (f *folder) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

func (f *folder) tries() []try {
	return []try{
		{"a host", f.get("hello.localhost", "/"), "backend: hello\n"},
		{"a path of it: the other backend", f.get("hello.localhost", "/next/page"), "backend: hello-next\n"},
		{"one exact path", f.get("hello.localhost", "/next/exactly"), "backend: hello\n"},
		{"a wildcard host", f.get("any.wild.localhost", "/"), "backend: hello-next\n"},
		{"a host that nobody declared: 404", f.get("unknown.localhost", "/", "-i"), "404"},
		{"a rewritten path", f.get("rewrite.localhost", "/api/orders/7"), "path: /orders/7\n"},
		{"a canary: 30 of 100 requests go to the new version; repeat it", f.get("canary.localhost", "/"), "backend: hello"},
		{"always the canary, by a header", f.get("canary.localhost", "/", "-H", "X-Canary: always"), "backend: hello-next\n"},
		{"a login: without it 401", f.get("guarded.localhost", "/", "-i"), "401"},
		{"with it, and a page of another site may ask", f.get("guarded.localhost", "/", "-i", "-u", "demo:demo", "-H", "Origin: https://app.localhost"), "Access-Control-Allow-Origin: https://app.localhost"},
		{"HTTPS, over HTTP/2", f.getTLS("secure.localhost", "/", "-i", "--cacert", f.certificate), "HTTP/2 200"},
		{"plain HTTP to the same host is redirected", f.get("secure.localhost", "/", "-i"), "308"},
		{"a WebSocket: it greets, then ticks", f.webSocket("chat.localhost"), "welcome to chat"},
	}
}

func (f *folder) edit() string {
	return fmt.Sprintf(`  # edit %s and save: the next request obeys
  sed -i 's/hello-next/chat/' %s
  %s
`, filepath.Join(f.manifests, "hello.yaml"), filepath.Join(f.manifests, "hello.yaml"), try{args: f.get("hello.localhost", "/next/page")})
}

func (f *folder) close() {
	for i := len(f.cleanup) - 1; i >= 0; i-- {
		f.cleanup[i]()
	}
	f.cleanup = nil
}
