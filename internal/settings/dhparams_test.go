// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
)

func dhPEM(t testing.TB, p, g *big.Int) []byte {
	t.Helper()
	der, err := asn1.Marshal(struct{ P, G *big.Int }{p, g})
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "DH PARAMETERS", Bytes: der})
}

func TestParseDHParams(t *testing.T) {
	odd := func(bits uint) *big.Int {
		return new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), bits-1), big.NewInt(1))
	}
	two := big.NewInt(2)
	good := dhPEM(t, odd(2048), two)
	if text, err := parseDHParams(append([]byte("a remark\n"), good...)); err != nil || text != string(good) {
		t.Errorf("%v: %s", err, text)
	}
	for name, text := range map[string][]byte{
		"nothing":   nil,
		"other PEM": []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
		"short":     dhPEM(t, odd(1024), two),
		"long":      dhPEM(t, odd(16384), two),
		"even":      dhPEM(t, new(big.Int).Lsh(big.NewInt(1), 2047), two),
		"one":       dhPEM(t, odd(2048), big.NewInt(1)),
		"large g":   dhPEM(t, odd(2048), odd(2049)),
		"garbage":   pem.EncodeToMemory(&pem.Block{Type: "DH PARAMETERS", Bytes: []byte("x")}),
		"cut off":   good[:len(good)/2],
	} {
		if got, err := parseDHParams(text); err == nil {
			t.Errorf("%s is taken: %s", name, got)
		}
	}
}

func FuzzParseDHParams(f *testing.F) {
	f.Add([]byte("-----BEGIN DH PARAMETERS-----\nMAYCAQcCAQI=\n-----END DH PARAMETERS-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := parseDHParams(text); err == nil && !strings.HasPrefix(got, "-----BEGIN DH PARAMETERS-----\n") {
			t.Errorf("%q is taken as %q", text, got)
		}
	})
}
