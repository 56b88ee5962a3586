// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// usable are the suites of OpenSSL's list that Fairway knows.
func usable(list string) string {
	names := strings.Split(list, ":")
	names = slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(suites, func(s suite) bool { return s.name == name })
	})
	return strings.Join(names, ":")
}

// TestCiphersAsOpenSSLReadsThem compares with what OpenSSL says of the same lists.
func TestCiphersAsOpenSSLReadsThem(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("there is no openssl to compare with")
	}
	version, err := exec.Command("openssl", "version").Output()
	if err != nil || !strings.HasPrefix(string(version), "OpenSSL 3.0.") {
		t.Skipf("the table is that of OpenSSL 3.0, not of %s", version)
	}
	lists := []string{
		"HIGH:!aNULL:!MD5", "ALL", "AES128", "ECDHE+AESGCM:DHE+AESGCM:ECDHE+CHACHA20:!aNULL", "EECDH+AESGCM:EDH+AESGCM", "DEFAULT:!SHA1", "DEFAULT:-AES256:AES256",
		"HIGH:+RSA:@STRENGTH", "AES256:AES128:@STRENGTH", "kRSA", "aECDSA", "SHA", "SHA256", "SHA384", "TLSv1.2:!kRSA", "SSLv3", "TLSv1", "CAMELLIA:ARIA", "AESCCM8:AESCCM",
		"ECDHE-RSA-AES128-GCM-SHA256,ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-GCM-SHA256 AES128-SHA", "!AES128:ALL", "ALL:-ALL:AES128-SHA", "HIGH:+AES256:+SHA1",
		"ALL:!COMPLEMENTOFDEFAULT", "RSA:ECDSA:DH:ECDH",
	}
	for word := range cipherWords {
		lists = append(lists, word)
	}
	for _, list := range lists {
		want, err := exec.Command("openssl", "ciphers", list).Output()
		if err != nil {
			t.Errorf("openssl ciphers %q: %v", list, err)
			continue
		}
		if got, err := parseCiphers(list); err != nil || got != usable(strings.TrimSpace(string(want))) {
			t.Errorf("%q gives\n%s, %v, want\n%s", list, got, err, usable(strings.TrimSpace(string(want))))
		}
	}
}

func TestCiphers(t *testing.T) {
	for text, want := range map[string]string{
		"DEFAULT":                           "DEFAULT",
		"AES128-SHA:TLS_AES_128_GCM_SHA256": "AES128-SHA",
		"AES128-SHA:!KRB5-DES-CBC3-SHA":     "AES128-SHA",
		"":                                  "leaves no cipher",
		"aNULL:eNULL":                       "leaves no cipher",
		"ALL:!ALL":                          "leaves no cipher",
		"!aNULL":                            "leaves no cipher",
		"AES128-SHA:AES129-SHA":             `has "AES129-SHA", which is no cipher`,
		"AES128-SHA:@SECLEVEL=0":            `has "@SECLEVEL=0", which is no cipher`,
		"AES128-SHA;}":                      `has "}", which is no cipher`,
		"!!AES128-SHA":                      `has "!!AES128-SHA", which is no cipher`,
		"AES128-SHA:":                       "AES128-SHA",
		"AES128-SHA:" + strings.Repeat("x", 2048): "is longer than 2048 bytes",
	} {
		got, err := parseCiphers(text)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.40q: %s, want %s", text, got, want)
		}
	}
	if got, err := parseServerCiphers("AES128-SHA:@SECLEVEL=1"); err != nil || got != "@SECLEVEL=1:AES128-SHA" {
		t.Errorf("with a security level: %s, %v", got, err)
	}
	if _, err := parseServerCiphers("AES128-SHA:@SECLEVEL=9"); err == nil {
		t.Error("a security level of 9 was taken")
	}
}

// FuzzCiphers: whatever a tenant writes, only names of the table come out.
func FuzzCiphers(f *testing.F) {
	for _, seed := range []string{"DEFAULT", "HIGH:!aNULL:@STRENGTH", "ECDHE+AESGCM", "AES128-SHA:-AES128-SHA", "x;}", "@SECLEVEL=1:ALL", "+", "!", ":::"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseServerCiphers(text)
		if err != nil || got == defaultCiphers {
			return
		}
		if got == "" {
			t.Fatalf("%q gives nothing", text)
		}
		for i, word := range strings.Split(got, ":") {
			if level := i == 0 && strings.HasPrefix(word, "@SECLEVEL=") && len(word) == 11; !level && usable(word) != word {
				t.Errorf("%q lets %q pass", text, word)
			}
		}
	})
}
