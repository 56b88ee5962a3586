// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ocsp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

type signer struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// issue makes a certificate that issuer signs, nil for one that signs itself, and its PEM.
func issue(t testing.TB, name string, issuer *signer, url ...string) (*signer, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), OCSPServer: url,
		IsCA: issuer == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	made := &signer{key: key}
	if issuer == nil {
		issuer = &signer{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.certificate, key.Public(), issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	if made.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return made, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestNewQuestion(t *testing.T) {
	ca, caPEM := issue(t, "ca", nil)
	_, otherPEM := issue(t, "other", nil)
	_, good := issue(t, "good", ca, "ldap://x", "http://responder.example/")
	_, silent := issue(t, "silent", ca)
	_, odd := issue(t, "odd", ca, "file:///etc/passwd", "http://user:word@x/", "http:///x")
	for name, chain := range map[string]string{
		"no issuer": good, "no responder": silent + caPEM, "no URL": odd + caPEM, "another issuer": good + otherPEM, "nothing": "",
	} {
		if newQuestion(chain) != nil {
			t.Errorf("%s: there is a question", name)
		}
	}
	if q := newQuestion(good + caPEM); q == nil || q.url != "http://responder.example/" {
		t.Errorf("%+v", q)
	}
}

func TestRead(t *testing.T) {
	ca, caPEM := issue(t, "ca", nil)
	other, _ := issue(t, "other", nil)
	leaf, leafPEM := issue(t, "leaf", ca, "http://x/")
	q := newQuestion(leafPEM + caPEM)
	now := time.Now()
	good := ocsp.Response{
		Status: ocsp.Good, SerialNumber: leaf.certificate.SerialNumber, ThisUpdate: now.Add(-time.Minute), NextUpdate: now.Add(time.Hour),
	}
	answer := func(by *signer, change func(*ocsp.Response)) []byte {
		r := good
		change(&r)
		der, err := ocsp.CreateResponse(by.certificate, by.certificate, r, by.key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	same := func(*ocsp.Response) {}
	for name, body := range map[string][]byte{
		"revoked":      answer(ca, func(r *ocsp.Response) { r.Status, r.RevokedAt = ocsp.Revoked, now }),
		"unknown":      answer(ca, func(r *ocsp.Response) { r.Status = ocsp.Unknown }),
		"other signer": answer(other, same),
		"other serial": answer(ca, func(r *ocsp.Response) { r.SerialNumber = big.NewInt(1) }),
		"over":         answer(ca, func(r *ocsp.Response) { r.NextUpdate = now.Add(-time.Second) }),
		"to come":      answer(ca, func(r *ocsp.Response) { r.ThisUpdate = now.Add(time.Hour) }),
		"nothing":      nil,
		"long":         make([]byte, mostBytes+1),
	} {
		if got, err := q.read(body, now); err == nil {
			t.Errorf("%s: taken as %v", name, got)
		}
	}
	got, err := q.read(answer(ca, same), now)
	if err != nil || got.Text == "" || got.Until.Sub(good.NextUpdate).Abs() > time.Second {
		t.Errorf("%v, %v", got, err)
	}
	endless, err := q.read(answer(ca, func(r *ocsp.Response) { r.NextUpdate = time.Time{} }), now)
	if err != nil || !endless.Until.Equal(now.Add(withoutEnd)) {
		t.Errorf("%v, %v", endless, err)
	}
}

func FuzzRead(f *testing.F) {
	ca, caPEM := issue(f, "ca", nil)
	_, leafPEM := issue(f, "leaf", ca, "http://x/")
	q := newQuestion(leafPEM + caPEM)
	f.Add([]byte("0"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := q.read(body, time.Now()); err == nil {
			t.Error("an answer that nobody signed is taken")
		}
	})
}
