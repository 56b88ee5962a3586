// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// certificate is what a Secret holds: a certificate, or why it holds none.
type certificate struct {
	*model.Certificate
	leaf *x509.Certificate
	err  error
}

// readCertificate reads tls.crt and tls.key of a Secret of any type.
func readCertificate(secret *corev1.Secret) *certificate {
	chain, key := secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
	switch {
	case len(chain) == 0:
		return &certificate{err: errors.New("it has no tls.crt")}
	case len(key) == 0:
		return &certificate{err: errors.New("it has no tls.key")}
	}
	chain, err := certificatesOnly(chain)
	if err != nil {
		return &certificate{err: err}
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return &certificate{err: errors.New("tls.key is not the key of the first certificate in tls.crt")}
	}
	algorithm := keyAlgorithm(pair.Leaf)
	if algorithm == "" {
		return &certificate{err: errors.New("its key is none of RSA, ECDSA and Ed25519")}
	}
	sum := sha256.New()
	sum.Write(chain)
	sum.Write(key)
	return &certificate{leaf: pair.Leaf, Certificate: &model.Certificate{
		ID:        model.CertificateID(hex.EncodeToString(sum.Sum(nil)[:16])),
		Owner:     model.Ref{Kind: "Secret", Namespace: secret.Namespace, Name: secret.Name},
		Chain:     string(chain),
		Key:       model.NewSecret(string(key)),
		Algorithm: algorithm,
		NotAfter:  pair.Leaf.NotAfter,
	}}
}

// certificatesOnly checks each PEM block and leaves out what stands between them.
func certificatesOnly(text []byte) ([]byte, error) {
	var chain bytes.Buffer
	for n := 1; ; n++ {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		if _, err := x509.ParseCertificate(block.Bytes); block.Type != "CERTIFICATE" || err != nil {
			return nil, fmt.Errorf("block %d of tls.crt is no certificate", n)
		}
		chain.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
		text = rest
	}
	if chain.Len() == 0 {
		return nil, errors.New("tls.crt is not PEM")
	}
	return chain.Bytes(), nil
}

func keyAlgorithm(leaf *x509.Certificate) string {
	switch leaf.PublicKey.(type) {
	case *rsa.PublicKey:
		return "RSA"
	case *ecdsa.PublicKey:
		return "ECDSA"
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return ""
}

// covers tells whether the certificate is for a host. The common name counts only when there are no alternative names.
func (c *certificate) covers(host string) bool {
	names := x509.Certificate{DNSNames: c.leaf.DNSNames}
	if len(c.leaf.DNSNames)+len(c.leaf.IPAddresses)+len(c.leaf.EmailAddresses)+len(c.leaf.URIs) == 0 && c.leaf.Subject.CommonName != "" {
		names.DNSNames = []string{c.leaf.Subject.CommonName}
	}
	return names.VerifyHostname(host) == nil
}

// Expired gives a Problem for each certificate of the model that is expired at that time. They are served all the same.
func Expired(m *model.Model, at time.Time) []model.Problem {
	var problems []model.Problem
	for _, c := range m.Certificates {
		if c.NotAfter.Before(at) {
			problems = append(problems, model.Problem{
				Object: c.Owner, Reason: model.ReasonCertificateExpired,
				Message: "the certificate expired on " + c.NotAfter.UTC().Format(time.DateOnly) + " and is served all the same; renew it",
			})
		}
	}
	return model.SortProblems(problems)
}
