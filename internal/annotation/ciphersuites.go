// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import "slices"

// suite is a cipher suite of TLS 1.2 and older that a server with an RSA or ECDSA certificate can use.
type suite struct {
	name     string // OpenSSL's
	version  string // the oldest protocol that has it
	exchange string // of keys
	auth     string // the kind of certificate
	cipher   string
	bits     int
	mac      string
	common   bool // part of OpenSSL's DEFAULT
}

// suites are in OpenSSL's own order of preference, as of version 3.0 (openssl ciphers -v ALL).
var suites = []suite{
	{"ECDHE-ECDSA-AES256-GCM-SHA384", "TLSv1.2", "ECDHE", "ECDSA", "AESGCM", 256, "AEAD", true},
	{"ECDHE-RSA-AES256-GCM-SHA384", "TLSv1.2", "ECDHE", "RSA", "AESGCM", 256, "AEAD", true},
	{"DHE-RSA-AES256-GCM-SHA384", "TLSv1.2", "DHE", "RSA", "AESGCM", 256, "AEAD", true},
	{"ECDHE-ECDSA-CHACHA20-POLY1305", "TLSv1.2", "ECDHE", "ECDSA", "CHACHA20", 256, "AEAD", true},
	{"ECDHE-RSA-CHACHA20-POLY1305", "TLSv1.2", "ECDHE", "RSA", "CHACHA20", 256, "AEAD", true},
	{"DHE-RSA-CHACHA20-POLY1305", "TLSv1.2", "DHE", "RSA", "CHACHA20", 256, "AEAD", true},
	{"ECDHE-ECDSA-AES256-CCM8", "TLSv1.2", "ECDHE", "ECDSA", "AESCCM8", 256, "AEAD", false},
	{"ECDHE-ECDSA-AES256-CCM", "TLSv1.2", "ECDHE", "ECDSA", "AESCCM", 256, "AEAD", false},
	{"DHE-RSA-AES256-CCM8", "TLSv1.2", "DHE", "RSA", "AESCCM8", 256, "AEAD", false},
	{"DHE-RSA-AES256-CCM", "TLSv1.2", "DHE", "RSA", "AESCCM", 256, "AEAD", false},
	{"ECDHE-ECDSA-ARIA256-GCM-SHA384", "TLSv1.2", "ECDHE", "ECDSA", "ARIAGCM", 256, "AEAD", false},
	{"ECDHE-ARIA256-GCM-SHA384", "TLSv1.2", "ECDHE", "RSA", "ARIAGCM", 256, "AEAD", false},
	{"DHE-RSA-ARIA256-GCM-SHA384", "TLSv1.2", "DHE", "RSA", "ARIAGCM", 256, "AEAD", false},
	{"ECDHE-ECDSA-AES128-GCM-SHA256", "TLSv1.2", "ECDHE", "ECDSA", "AESGCM", 128, "AEAD", true},
	{"ECDHE-RSA-AES128-GCM-SHA256", "TLSv1.2", "ECDHE", "RSA", "AESGCM", 128, "AEAD", true},
	{"DHE-RSA-AES128-GCM-SHA256", "TLSv1.2", "DHE", "RSA", "AESGCM", 128, "AEAD", true},
	{"ECDHE-ECDSA-AES128-CCM8", "TLSv1.2", "ECDHE", "ECDSA", "AESCCM8", 128, "AEAD", false},
	{"ECDHE-ECDSA-AES128-CCM", "TLSv1.2", "ECDHE", "ECDSA", "AESCCM", 128, "AEAD", false},
	{"DHE-RSA-AES128-CCM8", "TLSv1.2", "DHE", "RSA", "AESCCM8", 128, "AEAD", false},
	{"DHE-RSA-AES128-CCM", "TLSv1.2", "DHE", "RSA", "AESCCM", 128, "AEAD", false},
	{"ECDHE-ECDSA-ARIA128-GCM-SHA256", "TLSv1.2", "ECDHE", "ECDSA", "ARIAGCM", 128, "AEAD", false},
	{"ECDHE-ARIA128-GCM-SHA256", "TLSv1.2", "ECDHE", "RSA", "ARIAGCM", 128, "AEAD", false},
	{"DHE-RSA-ARIA128-GCM-SHA256", "TLSv1.2", "DHE", "RSA", "ARIAGCM", 128, "AEAD", false},
	{"ECDHE-ECDSA-AES256-SHA384", "TLSv1.2", "ECDHE", "ECDSA", "AES", 256, "SHA384", true},
	{"ECDHE-RSA-AES256-SHA384", "TLSv1.2", "ECDHE", "RSA", "AES", 256, "SHA384", true},
	{"DHE-RSA-AES256-SHA256", "TLSv1.2", "DHE", "RSA", "AES", 256, "SHA256", true},
	{"ECDHE-ECDSA-CAMELLIA256-SHA384", "TLSv1.2", "ECDHE", "ECDSA", "CAMELLIA", 256, "SHA384", false},
	{"ECDHE-RSA-CAMELLIA256-SHA384", "TLSv1.2", "ECDHE", "RSA", "CAMELLIA", 256, "SHA384", false},
	{"DHE-RSA-CAMELLIA256-SHA256", "TLSv1.2", "DHE", "RSA", "CAMELLIA", 256, "SHA256", false},
	{"ECDHE-ECDSA-AES128-SHA256", "TLSv1.2", "ECDHE", "ECDSA", "AES", 128, "SHA256", true},
	{"ECDHE-RSA-AES128-SHA256", "TLSv1.2", "ECDHE", "RSA", "AES", 128, "SHA256", true},
	{"DHE-RSA-AES128-SHA256", "TLSv1.2", "DHE", "RSA", "AES", 128, "SHA256", true},
	{"ECDHE-ECDSA-CAMELLIA128-SHA256", "TLSv1.2", "ECDHE", "ECDSA", "CAMELLIA", 128, "SHA256", false},
	{"ECDHE-RSA-CAMELLIA128-SHA256", "TLSv1.2", "ECDHE", "RSA", "CAMELLIA", 128, "SHA256", false},
	{"DHE-RSA-CAMELLIA128-SHA256", "TLSv1.2", "DHE", "RSA", "CAMELLIA", 128, "SHA256", false},
	{"ECDHE-ECDSA-AES256-SHA", "TLSv1", "ECDHE", "ECDSA", "AES", 256, "SHA1", true},
	{"ECDHE-RSA-AES256-SHA", "TLSv1", "ECDHE", "RSA", "AES", 256, "SHA1", true},
	{"DHE-RSA-AES256-SHA", "SSLv3", "DHE", "RSA", "AES", 256, "SHA1", true},
	{"DHE-RSA-CAMELLIA256-SHA", "SSLv3", "DHE", "RSA", "CAMELLIA", 256, "SHA1", false},
	{"ECDHE-ECDSA-AES128-SHA", "TLSv1", "ECDHE", "ECDSA", "AES", 128, "SHA1", true},
	{"ECDHE-RSA-AES128-SHA", "TLSv1", "ECDHE", "RSA", "AES", 128, "SHA1", true},
	{"DHE-RSA-AES128-SHA", "SSLv3", "DHE", "RSA", "AES", 128, "SHA1", true},
	{"DHE-RSA-CAMELLIA128-SHA", "SSLv3", "DHE", "RSA", "CAMELLIA", 128, "SHA1", false},
	{"AES256-GCM-SHA384", "TLSv1.2", "RSA", "RSA", "AESGCM", 256, "AEAD", true},
	{"AES256-CCM8", "TLSv1.2", "RSA", "RSA", "AESCCM8", 256, "AEAD", false},
	{"AES256-CCM", "TLSv1.2", "RSA", "RSA", "AESCCM", 256, "AEAD", false},
	{"ARIA256-GCM-SHA384", "TLSv1.2", "RSA", "RSA", "ARIAGCM", 256, "AEAD", false},
	{"AES128-GCM-SHA256", "TLSv1.2", "RSA", "RSA", "AESGCM", 128, "AEAD", true},
	{"AES128-CCM8", "TLSv1.2", "RSA", "RSA", "AESCCM8", 128, "AEAD", false},
	{"AES128-CCM", "TLSv1.2", "RSA", "RSA", "AESCCM", 128, "AEAD", false},
	{"ARIA128-GCM-SHA256", "TLSv1.2", "RSA", "RSA", "ARIAGCM", 128, "AEAD", false},
	{"AES256-SHA256", "TLSv1.2", "RSA", "RSA", "AES", 256, "SHA256", true},
	{"CAMELLIA256-SHA256", "TLSv1.2", "RSA", "RSA", "CAMELLIA", 256, "SHA256", false},
	{"AES128-SHA256", "TLSv1.2", "RSA", "RSA", "AES", 128, "SHA256", true},
	{"CAMELLIA128-SHA256", "TLSv1.2", "RSA", "RSA", "CAMELLIA", 128, "SHA256", false},
	{"AES256-SHA", "SSLv3", "RSA", "RSA", "AES", 256, "SHA1", true},
	{"CAMELLIA256-SHA", "SSLv3", "RSA", "RSA", "CAMELLIA", 256, "SHA1", false},
	{"AES128-SHA", "SSLv3", "RSA", "RSA", "AES", 128, "SHA1", true},
	{"CAMELLIA128-SHA", "SSLv3", "RSA", "RSA", "CAMELLIA", 128, "SHA1", false},
}

// cipherWords are OpenSSL's names of groups of suites; ciphers(1) describes them.
var cipherWords = map[string]func(s *suite) bool{
	"ALL": all, "COMPLEMENTOFDEFAULT": func(s *suite) bool { return !s.common }, "HIGH": all,
	"kRSA": exchanges("RSA"), "RSA": exchanges("RSA"),
	"kDHE": exchanges("DHE"), "kEDH": exchanges("DHE"), "DH": exchanges("DHE"), "DHE": exchanges("DHE"), "EDH": exchanges("DHE"),
	"kECDHE": exchanges("ECDHE"), "kEECDH": exchanges("ECDHE"), "ECDH": exchanges("ECDHE"), "ECDHE": exchanges("ECDHE"), "EECDH": exchanges("ECDHE"),
	"aRSA":   func(s *suite) bool { return s.auth == "RSA" },
	"aECDSA": func(s *suite) bool { return s.auth == "ECDSA" }, "ECDSA": func(s *suite) bool { return s.auth == "ECDSA" },
	"TLSv1.2": since("TLSv1.2"), "TLSv1.0": since("TLSv1"), "TLSv1": since("TLSv1"), "SSLv3": since("SSLv3"),
	"AES":      encrypts(0, "AES", "AESGCM", "AESCCM", "AESCCM8"),
	"AES128":   encrypts(128, "AES", "AESGCM", "AESCCM", "AESCCM8"),
	"AES256":   encrypts(256, "AES", "AESGCM", "AESCCM", "AESCCM8"),
	"AESGCM":   encrypts(0, "AESGCM"),
	"AESCCM":   encrypts(0, "AESCCM", "AESCCM8"),
	"AESCCM8":  encrypts(0, "AESCCM8"),
	"CHACHA20": encrypts(0, "CHACHA20"),
	"CAMELLIA": encrypts(0, "CAMELLIA"), "CAMELLIA128": encrypts(128, "CAMELLIA"), "CAMELLIA256": encrypts(256, "CAMELLIA"),
	"ARIA": encrypts(0, "ARIAGCM"), "ARIA128": encrypts(128, "ARIAGCM"), "ARIA256": encrypts(256, "ARIAGCM"), "ARIAGCM": encrypts(0, "ARIAGCM"),
	"SHA": macs("SHA1"), "SHA1": macs("SHA1"), "SHA256": macs("SHA256"), "SHA384": macs("SHA384"),
}

// emptyWords are groups of which no suite is left, and suites that are no longer built or need no list. Lists name them to exclude them, or out of habit.
var emptyWords = []string{
	"TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256", "TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256",
	"aNULL", "eNULL", "NULL", "ADH", "AECDH", "aDH", "aECDH", "kDH", "kDHr", "kDHd", "kECDH", "kECDHr", "kECDHe", "COMPLEMENTOFALL",
	"EXP", "EXPORT", "EXPORT40", "EXPORT56", "LOW", "MEDIUM", "DES", "3DES", "RC2", "RC4", "IDEA", "SEED", "MD5", "KRB5", "kKRB5", "aKRB5",
	"DSS", "aDSS", "PSK", "kPSK", "aPSK", "kECDHEPSK", "kDHEPSK", "kRSAPSK", "SRP", "kSRP", "aSRP", "GOST", "GOST94", "GOST89MAC", "aGOST", "aGOST01", "kGOST",
	"DES-CBC3-SHA", "DES-CBC3-MD5", "DES-CBC-SHA", "RC4-SHA", "RC4-MD5", "SEED-SHA", "IDEA-CBC-SHA", "NULL-SHA", "NULL-SHA256", "NULL-MD5",
	"EDH-RSA-DES-CBC3-SHA", "EDH-RSA-DES-CBC-SHA", "EDH-DSS-DES-CBC3-SHA", "EDH-DSS-DES-CBC-SHA", "KRB5-DES-CBC3-SHA", "DHE-RSA-DES-CBC3-SHA",
	"ECDHE-RSA-DES-CBC3-SHA", "ECDHE-ECDSA-DES-CBC3-SHA", "ECDHE-RSA-RC4-SHA", "ECDHE-ECDSA-RC4-SHA", "ECDH-RSA-DES-CBC3-SHA", "ECDH-ECDSA-DES-CBC3-SHA",
	"ECDHE-RSA-NULL-SHA", "ECDHE-ECDSA-NULL-SHA", "AECDH-NULL-SHA", "AECDH-DES-CBC3-SHA", "AECDH-RC4-SHA", "ADH-DES-CBC3-SHA", "ADH-RC4-MD5", "ADH-SEED-SHA",
	"DHE-RSA-SEED-SHA", "DHE-DSS-SEED-SHA", "DHE-DSS-AES256-GCM-SHA384", "DHE-DSS-AES128-GCM-SHA256", "DHE-DSS-AES256-SHA256", "DHE-DSS-AES128-SHA256",
	"DHE-DSS-AES256-SHA", "DHE-DSS-AES128-SHA", "DHE-DSS-CAMELLIA256-SHA", "DHE-DSS-CAMELLIA128-SHA", "ADH-AES256-GCM-SHA384", "ADH-AES128-GCM-SHA256",
	"ADH-AES256-SHA256", "ADH-AES128-SHA256", "ADH-AES256-SHA", "ADH-AES128-SHA", "ADH-CAMELLIA256-SHA", "ADH-CAMELLIA128-SHA", "AECDH-AES256-SHA", "AECDH-AES128-SHA",
}

func all(*suite) bool { return true }

func exchanges(name string) func(s *suite) bool {
	return func(s *suite) bool { return s.exchange == name }
}

func since(version string) func(s *suite) bool {
	return func(s *suite) bool { return s.version == version }
}

func macs(name string) func(s *suite) bool { return func(s *suite) bool { return s.mac == name } }

// encrypts is for ciphers of so many bits, 0 for any.
func encrypts(bits int, ciphers ...string) func(s *suite) bool {
	return func(s *suite) bool { return (bits == 0 || bits == s.bits) && slices.Contains(ciphers, s.cipher) }
}
