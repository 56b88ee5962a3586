// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/fairway-ingress/fairway/internal/model"
)

// The entries of a Secret that say whom to trust, and who one is.
const (
	authoritiesEntry = "ca.crt"
	revocationsEntry = "ca.crl"
	chainEntry       = "tls.crt"
	keyEntry         = "tls.key"
)

// The most bytes of PEM that are taken, so that what each worker keeps has a bound.
const (
	mostAuthorities = 256 << 10
	mostRevocations = 512 << 10
)

// readAuthorities reads the certificates of ca.crt, "" when there is none. Nothing but certificates passes: what somebody pasted beside them, a
// private key perhaps, must not get to where trust anchors are kept.
func readAuthorities(data map[string][]byte) (string, error) {
	return readBlocks(data, authoritiesEntry, "CERTIFICATE", "certificate", mostAuthorities, func(der []byte) error {
		_, err := x509.ParseCertificate(der)
		return err
	})
}

// readRevocations reads the revocation lists of ca.crl, "" when there is none.
func readRevocations(data map[string][]byte) (string, error) {
	return readBlocks(data, revocationsEntry, "X509 CRL", "revocation list", mostRevocations, func(der []byte) error {
		_, err := x509.ParseRevocationList(der)
		return err
	})
}

// readBlocks gives the PEM blocks of an entry, each once and without the text between them; check judges each.
func readBlocks(data map[string][]byte, entry, kind, word string, most int, check func(der []byte) error) (string, error) {
	rest := data[entry]
	if len(bytes.TrimSpace(rest)) == 0 {
		return "", nil
	}
	var out bytes.Buffer
	for n := 1; ; n++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != kind || check(block.Bytes) != nil {
			return "", fmt.Errorf("names a Secret whose %s is wrong: block %d is no %s", entry, n, word)
		}
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: block.Bytes})
		if !bytes.Contains(out.Bytes(), text) {
			out.Write(text)
		}
		if out.Len() > most {
			return "", fmt.Errorf("names a Secret whose %s is larger than %d KiB", entry, most>>10)
		}
	}
	if out.Len() == 0 {
		return "", fmt.Errorf("names a Secret whose %s is not PEM", entry)
	}
	return out.String(), nil
}

// readIdentity reads a chain and its key from tls.crt and tls.key, nil when both are missing.
func readIdentity(owner model.Ref, data map[string][]byte) (*model.Certificate, error) {
	if len(data[chainEntry])+len(data[keyEntry]) == 0 {
		return nil, nil
	}
	chain, err := readBlocks(data, chainEntry, "CERTIFICATE", "certificate", mostAuthorities, func(der []byte) error {
		_, err := x509.ParseCertificate(der)
		return err
	})
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair([]byte(chain), data[keyEntry])
	if err != nil {
		return nil, errors.New("names a Secret whose tls.key is not the key of the first certificate in tls.crt")
	}
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return nil, errors.New("names a Secret whose tls.key is of an unknown kind")
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	sum := sha256.New()
	sum.Write([]byte(chain))
	sum.Write(key)
	return &model.Certificate{
		ID: model.CertificateID(hex.EncodeToString(sum.Sum(nil)[:16])), Owner: owner, Chain: chain, Key: model.NewSecret(string(key)), NotAfter: pair.Leaf.NotAfter,
	}, nil
}
