// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"
)

// mustPair is newPair for tests.
func mustPair(t *testing.T, name, algorithm string, serial int64, others ...string) pair {
	t.Helper()
	p, err := newPair(name, algorithm, serial, others...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// withTLS is an Ingress for a host with TLS entries of the given Secrets.
func withTLS(name, host string, secrets ...string) string {
	var entries []string
	for _, s := range secrets {
		entries = append(entries, fmt.Sprintf("{hosts: [%q], secretName: %s}", host, s))
	}
	return strings.Replace(rule(name, host, "/", "web", ""), "spec: {", "spec: {tls: ["+strings.Join(entries, ", ")+"], ", 1)
}

// serial asks for the certificate of a server name; the ciphers decide which kind the client can use.
func serial(t *testing.T, name string, ciphers ...uint16) string {
	t.Helper()
	config := &tls.Config{ServerName: name, InsecureSkipVerify: true}
	if ciphers != nil {
		config.CipherSuites, config.MaxVersion = ciphers, tls.VersionTLS12
	}
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort), config)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, shared.errors.String())
	}
	defer conn.Close()
	certificate := conn.ConnectionState().PeerCertificates[0]
	if certificate.Subject.CommonName == "Kubernetes Ingress Controller Fake Certificate" {
		return "self-signed"
	}
	return certificate.SerialNumber.String()
}

func expectSerial(t *testing.T, name, want string, ciphers ...uint16) {
	t.Helper()
	if got := serial(t, name, ciphers...); got != want {
		t.Errorf("server name %q: certificate %s, want %s", name, got, want)
	}
}

func TestCertificateByServerName(t *testing.T) {
	shared.apply(t, withTLS("one", "one.tls.example", "one")+mustPair(t, "one.tls.example", "RSA", 1).secret("one")+
		withTLS("wild", "*.tls.example", "wild")+mustPair(t, "*.tls.example", "ECDSA", 2).secret("wild")+
		withTLS("missing", "missing.example", "missing")+
		withTLS("wrong", "wrong.example", "wrong")+mustPair(t, "other.example", "ECDSA", 3).secret("wrong"), "")
	expectSerial(t, "one.tls.example", "1")
	expectSerial(t, "ONE.tls.example", "1")
	expectSerial(t, "two.tls.example", "2")
	expectSerial(t, "a.b.tls.example", "self-signed")
	expectSerial(t, "missing.example", "self-signed")
	expectSerial(t, "wrong.example", "self-signed")
	expectSerial(t, "nobody.example", "self-signed")
	expectSerial(t, "", "self-signed")
}

// TestCertificateOfCounterpart checks what from-to-www-redirect shows over TLS: the host's certificate if it covers the other name too.
func TestCertificateOfCounterpart(t *testing.T) {
	redirecting := func(name, host string) string {
		return strings.Replace(withTLS(name, host, name), "annotations: {", "annotations: {"+prefix+"from-to-www-redirect: \"true\"", 1)
	}
	shared.apply(t, redirecting("both", "both.example")+mustPair(t, "both.example", "ECDSA", 31, "www.both.example").secret("both")+
		redirecting("one", "www.one.example")+mustPair(t, "www.one.example", "ECDSA", 32).secret("one"), "")
	expectSerial(t, "both.example", "31")
	expectSerial(t, "www.both.example", "31")
	expectSerial(t, "www.one.example", "32")
	expectSerial(t, "one.example", "self-signed")
}

func TestDefaultCertificate(t *testing.T) {
	shared.apply(t, mustPair(t, "default.example", "RSA", 9).secret("default-certificate")+withTLS("missing", "missing.example", "missing"), "")
	expectSerial(t, "missing.example", "9")
	expectSerial(t, "nobody.example", "9")
	expectSerial(t, "", "9")
}

func TestBothAlgorithmsForOneName(t *testing.T) {
	shared.apply(t, withTLS("both", "both.example", "rsa", "ecdsa")+
		mustPair(t, "both.example", "RSA", 11).secret("rsa")+mustPair(t, "both.example", "ECDSA", 12).secret("ecdsa"), "")
	expectSerial(t, "both.example", "11", tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256)
	expectSerial(t, "both.example", "12", tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256)
}

func TestCertificateChangesAtTheNextHandshake(t *testing.T) {
	ingress := withTLS("turn", "turn.example", "turn")
	shared.apply(t, ingress+mustPair(t, "turn.example", "ECDSA", 20).secret("turn"), "")
	reloads := shared.reloads
	for i := int64(21); i < 31; i++ {
		shared.apply(t, ingress+mustPair(t, "turn.example", "ECDSA", i).secret("turn"), "")
		for range 4 { // both workers
			expectSerial(t, "turn.example", fmt.Sprint(i))
		}
	}
	shared.apply(t, ingress, "")
	expectSerial(t, "turn.example", "self-signed")
	if shared.reloads != reloads {
		t.Errorf("%d reloads", shared.reloads-reloads)
	}
}

func TestOldTLSVersionsAreRefused(t *testing.T) {
	shared.apply(t, rule("web", "old.example", "/", "web", ""), "")
	config := &tls.Config{ServerName: "old.example", InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort), config); err == nil {
		conn.Close()
		t.Error("TLS 1.1 was accepted")
	}
}

// TestCertificateOfAnAlias checks that the certificate of a host answers for those aliases that it covers.
func TestCertificateOfAnAlias(t *testing.T) {
	aliases := `nginx.ingress.kubernetes.io/server-alias: "two.alias.example,other.example,*.alias.example"`
	ingress := withTLS("alias", "one.alias.example", "alias")
	ingress = strings.Replace(ingress, "annotations: {", "annotations: {"+aliases, 1)
	shared.apply(t, ingress+mustPair(t, "*.alias.example", "ECDSA", 40).secret("alias"), "")
	expectSerial(t, "one.alias.example", "40")
	expectSerial(t, "two.alias.example", "40")
	expectSerial(t, "three.alias.example", "40")
	expectSerial(t, "other.example", "self-signed")
}
