// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"path/filepath"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
)

// selfSigned makes the certificate for names that have none. Names and lifetime are the predecessor's, by which
// monitoring recognises it.
func selfSigned() (*model.Certificate, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make self-signed certificate: %w", err)
	}
	now := time.Now()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make self-signed certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{Organization: []string{"Acme Co"}, CommonName: "Kubernetes Ingress Controller Fake Certificate"},
		NotBefore:    now.Add(-time.Minute), NotAfter: now.AddDate(1, 0, 0),
		KeyUsage:    x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
		DNSNames: []string{"ingress.local"},
	}
	chain, secret, err := sign(template, key)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(chain)
	return &model.Certificate{
		ID: model.CertificateID("self-signed-" + hex.EncodeToString(sum[:8])), Owner: model.Ref{Kind: "SelfSigned", Name: "fallback"},
		Chain: string(chain), Key: model.NewSecret(string(secret)), Algorithm: "RSA", NotAfter: template.NotAfter,
	}, nil
}

// writePlaceholder writes the pair that nginx wants to see before it opens a TLS listener. It is never shown to a client, so its key
// is no secret.
func writePlaceholder(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make placeholder certificate: %w", err)
	}
	chain, secret, err := sign(&x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(10, 0, 0)}, key)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, conf.PlaceholderCert), chain); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, conf.PlaceholderKey), secret)
}

// sign gives chain and key as PEM.
func sign(template *x509.Certificate, key crypto.Signer) (chain, secret []byte, err error) {
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign certificate: %w", err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), nil
}
