// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// pair is a certificate and its key, as PEM.
type pair struct{ chain, key []byte }

// newPair makes a certificate for a name, and others; the serial number tells it from others.
func newPair(name, algorithm string, serial int64, others ...string) (pair, error) {
	var key crypto.Signer
	var err error
	if algorithm == "RSA" {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	} else {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		return pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: append([]string{name}, others...),
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return pair{}, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, err
	}
	return pair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
	}, nil
}

// secret is the manifest of a TLS Secret.
func (p pair) secret(name string) string {
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, metadata: {name: %s}, data: {tls.crt: %s, tls.key: %s}}\n",
		name, base64.StdEncoding.EncodeToString(p.chain), base64.StdEncoding.EncodeToString(p.key))
}
