// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"reflect"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Text gives the value of a field as text: a string, a secret revealed, the id of a reference. Empty when it is unset or there is no such field.
func Text(e Entity, name string) string {
	if ca, ok := e.(*CACertificate); ok && name == "cert_digest" {
		return ca.Digest()
	}
	for _, f := range layoutOf(e) {
		if f.name != name {
			continue
		}
		switch v := reflect.ValueOf(e).Elem().FieldByIndex(f.index).Interface().(type) {
		case string:
			return v
		case model.Secret:
			return v.Reveal()
		case *Reference:
			if v != nil {
				return v.ID
			}
		}
	}
	return ""
}

// Digest is the SHA-256 of the certificate in hex, by which Kong tells two apart; empty when it is no PEM.
func (c *CACertificate) Digest() string {
	block, _ := pem.Decode([]byte(c.Cert))
	if block == nil {
		return ""
	}
	sum := sha256.Sum256(block.Bytes)
	return hex.EncodeToString(sum[:])
}

// listed gives the ids in a field that is a list of references.
func listed(e Entity, name string) []string {
	if s, ok := e.(*Service); ok && name == "ca_certificates" {
		return s.CACertificates
	}
	return nil
}
