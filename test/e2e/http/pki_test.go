// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

var serials atomic.Int64

// newAuthority makes an authority that parent signs; nil for one that signs itself.
func newAuthority(name string, parent *authority) (*authority, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1000 + serials.Add(1)), Subject: pkix.Name{CommonName: name, Organization: []string{"Fairway Tests"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	signer, with := template, key
	if parent != nil {
		signer, with = parent.certificate, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer, key.Public(), with)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// issue makes a certificate for a common name, which ends at a time and is for the DNS names too.
func (a *authority) issue(name string, end time.Time, dns ...string) (pair, *big.Int, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1000 + serials.Add(1)), Subject: pkix.Name{CommonName: name, OrganizationalUnit: []string{"people"}}, DNSNames: dns,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, nil, err
	}
	return pair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
	}, template.SerialNumber, nil
}

// revoke makes a revocation list.
func (a *authority) revoke(serials ...*big.Int) ([]byte, error) {
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(24 * time.Hour)}
	for _, s := range serials {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: s, RevocationTime: time.Now().Add(-time.Minute)})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.certificate, a.key)
	return pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}), err
}

// pki is the certificates that all tests share.
//
// The authority "clients" signs alice, bob, revoked (which its list revokes) and expired, the authority "others" mallory, "between", which clients signs, deep, and "beneath", which
// between signs, deeper.
// self is signed by itself. The authority "backends" signs the certificate of the backends that speak TLS.
type pki struct {
	authorities map[string]*authority
	clients     map[string]tls.Certificate
	pairs       map[string]pair
	revocations []byte
}

func newPKI() (*pki, error) {
	p := &pki{authorities: map[string]*authority{}, clients: map[string]tls.Certificate{}, pairs: map[string]pair{}}
	for _, a := range []struct{ name, parent string }{{"clients", ""}, {"others", ""}, {"backends", ""}, {"between", "clients"}, {"beneath", "between"}} {
		made, err := newAuthority(a.name, p.authorities[a.parent])
		if err != nil {
			return nil, err
		}
		p.authorities[a.name] = made
	}
	day := time.Now().Add(24 * time.Hour)
	var revoked *big.Int
	for _, c := range []struct {
		name, authority string
		end             time.Time
	}{
		{"alice", "clients", day}, {"bob", "clients", day}, {"revoked", "clients", day}, {"expired", "clients", time.Now().Add(-24 * time.Hour)},
		{"mallory", "others", day}, {"deep", "between", day}, {"deeper", "beneath", day},
	} {
		made, serial, err := p.authorities[c.authority].issue(c.name, c.end)
		if err != nil {
			return nil, err
		}
		if c.name == "revoked" {
			revoked = serial
		}
		switch c.name {
		case "deep":
			made.chain = append(made.chain, p.authorities["between"].pem...)
		case "deeper":
			made.chain = slices.Concat(made.chain, p.authorities["beneath"].pem, p.authorities["between"].pem)
		}
		if err := p.add(c.name, made); err != nil {
			return nil, err
		}
	}
	self, err := newPair("self", "ECDSA", 999)
	if err != nil {
		return nil, err
	}
	if err := p.add("self", self); err != nil {
		return nil, err
	}
	p.revocations, err = p.authorities["clients"].revoke(revoked)
	return p, err
}

func (p *pki) add(name string, made pair) error {
	certificate, err := tls.X509KeyPair(made.chain, made.key)
	p.clients[name], p.pairs[name] = certificate, made
	return err
}

// expand fills in what Secrets hold, in base64: ${clients.ca}, ${others.ca}, ${backends.ca}, ${between.ca}, ${clients.crl}, ${alice.crt}, ${alice.key}.
func (p *pki) expand(text string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	words := []string{"${clients.crl}", base64.StdEncoding.EncodeToString(p.revocations)}
	for name, a := range p.authorities {
		words = append(words, "${"+name+".ca}", base64.StdEncoding.EncodeToString(a.pem))
	}
	for name, made := range p.pairs {
		words = append(words, "${"+name+".crt}", base64.StdEncoding.EncodeToString(made.chain), "${"+name+".key}", base64.StdEncoding.EncodeToString(made.key))
	}
	return strings.NewReplacer(words...).Replace(text)
}

// secretOf is the manifest of a Secret with these entries.
func secretOf(name string, entries map[string][]byte) string {
	var data []string
	for key, value := range entries {
		data = append(data, key+": "+base64.StdEncoding.EncodeToString(value))
	}
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Secret, metadata: {name: %s}, data: {%s}}\n", name, strings.Join(data, ", "))
}
