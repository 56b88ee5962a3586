// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// backendName is in the certificate of the backend that clients are to reach through Fairway.
const backendName = "backend.example"

// startBackends starts an HTTPS server of its own certificate, which answers with "backend" and the size of the body; a server in plain text that says
// what it saw of the client; and an echo server over TLS. It gives their ports.
func startBackends(t *testing.T) (https, plain, echo int) {
	t.Helper()
	config := &tls.Config{Certificates: []tls.Certificate{newCertificate(t)}}
	https = serve(t, config, func(l net.Listener) {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := io.Copy(io.Discard, r.Body) // a client that goes away is the test's own
			fmt.Fprintf(w, "backend %s %d", r.Host, n)
		}))
	})
	plain = serve(t, nil, func(l net.Listener) {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "plain for=%s port=%s proto=%s", r.Header.Get("X-Forwarded-For"), r.Header.Get("X-Forwarded-Port"), r.Header.Get("X-Forwarded-Proto"))
		}))
	})
	echo = serve(t, config, func(l net.Listener) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
				_ = conn.(*tls.Conn).CloseWrite()
			}()
		}
	})
	return https, plain, echo
}

func serve(t *testing.T, config *tls.Config, run func(net.Listener)) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	port := l.Addr().(*net.TCPAddr).Port
	if config != nil {
		l = tls.NewListener(l, config)
	}
	go run(l)
	return port
}

func newCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: backendName}, DNSNames: []string{backendName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// objects gives the manifests: settings is what the ConfigMap says, through the annotations of the Ingress for pass.example and alias.example.
func objects(https, plain, echo int, settings, through string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {%s}}\n", settings)
	for name, port := range map[string]int{"https": https, "plain": plain, "echo": echo} {
		fmt.Fprintf(&out, `---
{apiVersion: v1, kind: Service, metadata: {name: %[1]s}, spec: {ports: [{port: 443}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: %[1]s-1, labels: {kubernetes.io/service-name: %[1]s}},
 addressType: IPv4, ports: [{port: %[2]d}], endpoints: [{addresses: [127.0.0.1]}]}
`, name, port)
	}
	rule := func(name, host, path, service, annotations string) {
		fmt.Fprintf(&out, `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: %s, annotations: {%s}}
spec: {rules: [{host: %q, http: {paths: [{path: %s, pathType: Prefix, backend: {service: {name: %s, port: {number: 443}}}}]}}]}
`, name, annotations, host, path, service)
	}
	const passes = `nginx.ingress.kubernetes.io/ssl-passthrough: "true"`
	rule("pass", "pass.example", "/", "https", through)
	rule("wild", "*.wild.example", "/", "https", passes)
	rule("echo", "echo.example", "/", "echo", passes)
	rule("rootless", "rootless.example", "/some", "https", passes)
	rule("normal", "normal.example", "/", "plain", "")
	return out.String()
}
