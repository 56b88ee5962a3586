// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"crypto/x509"
	"maps"
	"testing"
	"time"
)

var wanted = needs{names: []string{"hook.fairway.svc", "hook.fairway"}, lifetime: 90 * 24 * time.Hour}

// parsed makes sure that data are credentials that can be used at a time.
func parsed(t *testing.T, data map[string][]byte, now time.Time) *credentials {
	t.Helper()
	c, err := parseCredentials(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.check(wanted, now); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestYears lives through thirty years with a look each day: there is always a certificate that also those trust who only know the authorities of the
// step before, and nothing is written without need.
func TestYears(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	data, err := newCredentials(wanted, now)
	if err != nil {
		t.Fatal(err)
	}
	c := parsed(t, data, now)
	writes := 0
	for range 30 * 365 {
		now = now.Add(24 * time.Hour)
		next, err := c.renewed(wanted, now)
		if err != nil {
			t.Fatal(err)
		}
		if next == nil {
			continue
		}
		writes++
		fresh := parsed(t, next, now)
		if len(fresh.authorities) > 2 {
			t.Fatalf("%s: %d authorities", now, len(fresh.authorities))
		}
		// An API server that has not heard of the newest bundle trusts the one before.
		late := *fresh
		late.authorities = c.authorities
		if err := late.check(wanted, now); err != nil {
			t.Fatalf("%s: not trusted with the former authorities: %v", now, err)
		}
		c = fresh
	}
	if writes < 30*365/60-10 || writes > 30*365/60+40 {
		t.Errorf("%d writes in thirty years with a certificate every 60 days", writes)
	}
	if again, err := c.renewed(wanted, now); again != nil || err != nil {
		t.Errorf("written again at once: %v", err)
	}
}

func TestNewNamesNeedANewCertificate(t *testing.T) {
	now := time.Now()
	data, err := newCredentials(wanted, now)
	if err != nil {
		t.Fatal(err)
	}
	other := needs{names: []string{"other.fairway.svc"}, lifetime: wanted.lifetime}
	next, err := parsed(t, data, now).renewed(other, now)
	if err != nil || next == nil {
		t.Fatalf("not renewed: %v", err)
	}
	if c, err := parseCredentials(next); err != nil || c.check(other, now) != nil || !bytes.Equal(next[authoritiesKey], data[authoritiesKey]) {
		t.Errorf("not for the other name, or by another authority: %v", err)
	}
}

// TestCloseLook renews an authority while the certificate is due too: first the authority, and the certificate when everybody can know.
func TestCloseLook(t *testing.T) {
	now := time.Now()
	data, err := newCredentials(wanted, now)
	if err != nil {
		t.Fatal(err)
	}
	c := parsed(t, data, now)
	now = now.Add(authorityLifetime / 100 * 95)
	if data, err = newCredentialsUntil(c, now); err != nil {
		t.Fatal(err)
	}
	c = parsed(t, data, now)
	first, err := c.renewed(wanted, now)
	if err != nil || !bytes.Equal(first[certificateKey], data[certificateKey]) {
		t.Fatalf("the certificate went with the authority: %v", err)
	}
	c = parsed(t, first, now)
	if again, err := c.renewed(wanted, now.Add(settling/2)); again != nil || err != nil {
		t.Errorf("signed by an authority that is %v old: %v", settling/2, err)
	}
	second, err := c.renewed(wanted, now.Add(settling))
	if err != nil || second == nil {
		t.Fatalf("not signed by the new authority: %v", err)
	}
	if leaf := parsed(t, second, now.Add(settling)).pair.Leaf; leaf.CheckSignatureFrom(c.authorities[0]) != nil {
		t.Error("signed by the old authority")
	}
}

// newCredentialsUntil signs a certificate with an hour to live by the authority of c.
func newCredentialsUntil(c *credentials, now time.Time) (map[string][]byte, error) {
	next := &credentials{authorities: c.authorities, signer: c.signer, data: maps.Clone(c.data)}
	err := next.sign(needs{names: wanted.names, lifetime: time.Hour}, now)
	return next.data, err
}

func TestBadSecrets(t *testing.T) {
	now := time.Now()
	good, err := newCredentials(wanted, now)
	if err != nil {
		t.Fatal(err)
	}
	other, err := newCredentials(wanted, now)
	if err != nil {
		t.Fatal(err)
	}
	for key := range good {
		for name, value := range map[string][]byte{"missing": nil, "broken": []byte("x"), "foreign": other[key]} {
			data := maps.Clone(good)
			data[key] = value
			c, err := parseCredentials(data)
			if err == nil && c.check(wanted, now) == nil {
				t.Errorf("%s %s is taken", name, key)
			}
		}
	}
}

func TestAuthorityOnlySigns(t *testing.T) {
	data, err := newCredentials(wanted, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c := parsed(t, data, time.Now())
	if leaf := c.pair.Leaf; leaf.IsCA || leaf.KeyUsage != x509.KeyUsageDigitalSignature {
		t.Error("the certificate can sign others")
	}
	if !c.authorities[0].IsCA || !c.authorities[0].MaxPathLenZero {
		t.Error("the authority can make others")
	}
}
