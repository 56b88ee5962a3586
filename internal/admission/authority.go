// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// Keys of the Secret that holds credentials.
const (
	authoritiesKey  = "ca.crt" // the newest first; what the API server is to trust
	authorityKeyKey = "ca.key" // the key of the newest
	certificateKey  = "tls.crt"
	privateKeyKey   = "tls.key"
)

const (
	// authorityLifetime is that of a certificate authority, which is followed by the next when a tenth is left.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	// skew is how far clocks may be apart.
	skew = 5 * time.Minute
	// settling is how old an authority must be before it signs while there is another: every API server must have heard of it.
	settling = 10 * time.Minute
)

// credentials are a certificate for the webhook and the authorities that the API server is to trust.
type credentials struct {
	authorities []*x509.Certificate
	signer      crypto.Signer // of the first
	pair        tls.Certificate
	data        map[string][]byte // as in the Secret
}

// needs say what a certificate must be like.
type needs struct {
	names    []string
	lifetime time.Duration
}

// parseCredentials reads the content of a Secret.
func parseCredentials(data map[string][]byte) (*credentials, error) {
	c := &credentials{data: data}
	for rest := data[authoritiesKey]; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		authority, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", authoritiesKey, err)
		}
		c.authorities = append(c.authorities, authority)
	}
	if len(c.authorities) == 0 {
		return nil, fmt.Errorf("%s holds no certificate", authoritiesKey)
	}
	first := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.authorities[0].Raw})
	pair, err := tls.X509KeyPair(first, data[authorityKeyKey])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", authorityKeyKey, err)
	}
	c.signer = pair.PrivateKey.(crypto.Signer) // all keys that it reads are
	if c.pair, err = tls.X509KeyPair(data[certificateKey], data[privateKeyKey]); err != nil {
		return nil, fmt.Errorf("%s: %w", certificateKey, err)
	}
	return c, nil
}

// newCredentials makes an authority and a certificate.
func newCredentials(n needs, now time.Time) (map[string][]byte, error) {
	c := &credentials{data: map[string][]byte{}}
	if err := c.addAuthority(now); err != nil {
		return nil, err
	}
	if err := c.sign(n, now); err != nil {
		return nil, err
	}
	return c.data, nil
}

// renewed gives the content of the Secret with what is due made anew, or nil when nothing is.
func (c *credentials) renewed(n needs, now time.Time) (map[string][]byte, error) {
	next := &credentials{authorities: c.authorities, signer: c.signer, pair: c.pair, data: map[string][]byte{}}
	for key, value := range c.data {
		next.data[key] = value
	}
	newest := c.authorities[0]
	usable := c.check(n, now)
	switch {
	case newest.NotAfter.Sub(now) < authorityLifetime/10:
		if err := next.addAuthority(now); err != nil {
			return nil, err
		}
		if usable == nil {
			return next.data, nil // the new authority signs when it is known
		}
		return next.data, next.sign(n, now)
	case usable != nil, c.due(n, now) && (len(c.authorities) == 1 || now.Sub(made(newest)) >= settling):
		return next.data, next.sign(n, now)
	}
	return nil, nil
}

// made is when an authority was made.
func made(authority *x509.Certificate) time.Time { return authority.NotBefore.Add(skew) }

// dueAt is when the certificate should be renewed: when a third of its lifetime is left.
func (c *credentials) dueAt(n needs) time.Time { return c.pair.Leaf.NotAfter.Add(-n.lifetime / 3) }

func (c *credentials) due(n needs, now time.Time) bool { return !now.Before(c.dueAt(n)) }

// check says why the certificate cannot be used, or nil.
func (c *credentials) check(n needs, now time.Time) error {
	trusted := x509.NewCertPool()
	for _, authority := range c.authorities {
		trusted.AddCert(authority)
	}
	for _, name := range n.names {
		if _, err := c.pair.Leaf.Verify(x509.VerifyOptions{Roots: trusted, DNSName: name, CurrentTime: now}); err != nil {
			return err
		}
	}
	if len(n.names) == 0 {
		return errors.New("no names")
	}
	return nil
}

// addAuthority puts a new authority before those that are still valid.
func (c *credentials) addAuthority(now time.Time) error {
	key, encoded, err := newKey()
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "Fairway admission webhook " + now.UTC().Format(time.RFC3339)},
		NotBefore: now.Add(-skew), NotAfter: now.Add(authorityLifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authority, err := create(template, template, key.Public(), key)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(c.authorities), func(a *x509.Certificate) bool { return now.After(a.NotAfter) })
	c.authorities, c.signer = append([]*x509.Certificate{authority}, others...), key
	var bundle bytes.Buffer
	for _, a := range c.authorities {
		bundle.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Raw}))
	}
	c.data[authoritiesKey], c.data[authorityKeyKey] = bundle.Bytes(), encoded
	return nil
}

// sign makes a certificate by the newest authority.
func (c *credentials) sign(n needs, now time.Time) error {
	key, encoded, err := newKey()
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: n.names[0]}, DNSNames: n.names,
		NotBefore: now.Add(-skew), NotAfter: now.Add(n.lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leaf, err := create(template, c.authorities[0], key.Public(), c.signer)
	if err != nil {
		return err
	}
	c.data[certificateKey] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})
	c.data[privateKeyKey] = encoded
	return nil
}

func newKey() (crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func create(template, parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}
