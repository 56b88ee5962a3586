// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// credentialLabel says of which type a credential is; credentialKey did until KIC 2.
const (
	credentialLabel = "konghq.com/credential"
	credentialKey   = "kongCredType"
)

// credentialType is what a type of credential is made of.
type credentialType struct {
	needed, optional []string
	unique           string // the field that tells credentials apart
}

var credentialTypes = map[string]credentialType{
	"key-auth":   {[]string{"key"}, []string{"ttl"}, "key"},
	"basic-auth": {[]string{"username", "password"}, nil, "username"},
	"hmac-auth":  {[]string{"username", "secret"}, nil, "username"},
	"jwt":        {[]string{"key"}, []string{"algorithm", "secret", "rsa_public_key"}, "key"},
	"oauth2":     {[]string{"name", "client_id", "client_secret", "redirect_uris"}, []string{"hash_secret", "client_type"}, "client_id"},
	"acl":        {[]string{"group"}, nil, "group"},
	"mtls-auth":  {[]string{"subject_name"}, nil, "subject_name"},
}

// credentialNames are the names of the types in declarative documents.
var credentialNames = map[string]string{
	"keyauth_credentials": "key-auth", "keyauth_credential": "key-auth", "basicauth_credentials": "basic-auth", "basicauth_credential": "basic-auth",
	"hmacauth_credentials": "hmac-auth", "hmacauth_credential": "hmac-auth", "jwt_secrets": "jwt", "jwt_secret": "jwt",
	"oauth2_credentials": "oauth2", "acls": "acl", "mtls_auth_credentials": "mtls-auth",
}

// newCredential reads a Secret. Errors never say what stands in it.
func newCredential(secret *corev1.Secret) (c *model.KongCredential, outdated bool, err error) {
	written := secret.Labels[credentialLabel]
	if written == "" {
		written = string(secret.Data[credentialKey])
		outdated = written != ""
	}
	if name := credentialNames[written]; name != "" {
		written = name
	}
	kind, known := credentialTypes[written]
	switch {
	case written == "":
		return nil, false, errors.New("has no label " + credentialLabel)
	case !known:
		return nil, false, errors.New("is of no type of credential that Kong has")
	}
	c = &model.KongCredential{Origin: origin("Secret", "", "v1", secret), Type: written, Fields: map[string]model.Secret{}}
	for _, field := range slices.Concat(kind.needed, kind.optional) {
		if text, found := secret.Data[field]; found {
			c.Fields[field] = model.NewSecret(string(text))
		}
	}
	for _, field := range kind.needed {
		if c.Get(field) == "" {
			return nil, outdated, fmt.Errorf("has no %s, which %s needs", field, written)
		}
	}
	return c, outdated, checkCredential(c)
}

var (
	symmetric  = []string{"HS256", "HS384", "HS512"}
	asymmetric = []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "EdDSA"}
)

// checkCredential checks what depends on more than one field, or is no text.
func checkCredential(c *model.KongCredential) error {
	switch c.Type {
	case "key-auth":
		if ttl := c.Get("ttl"); ttl != "" {
			if n, err := strconv.Atoi(ttl); err != nil || n < 0 {
				return errors.New("has a ttl that is no number of seconds")
			}
		}
	case "jwt":
		return checkJWT(c)
	case "oauth2":
		if text := c.Get("hash_secret"); text != "" {
			if _, err := strconv.ParseBool(text); err != nil {
				return errors.New("has a hash_secret that is neither true nor false")
			}
		}
		for _, uri := range list(c.Get("redirect_uris")) {
			if !strings.Contains(uri, "://") || strings.Contains(uri, "#") {
				return errors.New("has redirect_uris that are no URLs without fragment")
			}
		}
	}
	return nil
}

func checkJWT(c *model.KongCredential) error {
	algorithm := c.Get("algorithm")
	if algorithm == "" {
		algorithm = symmetric[0]
	}
	switch {
	case slices.Contains(symmetric, algorithm):
		if c.Get("secret") == "" {
			return errors.New("has no secret, which " + algorithm + " needs")
		}
	case slices.Contains(asymmetric, algorithm):
		block, _ := pem.Decode([]byte(c.Get("rsa_public_key")))
		if block == nil {
			return errors.New("has no rsa_public_key in PEM, which " + algorithm + " needs")
		}
		if _, err := x509.ParsePKIXPublicKey(block.Bytes); err != nil && block.Type == "PUBLIC KEY" {
			return errors.New("has an rsa_public_key that is no key")
		}
	default:
		return errors.New("has an algorithm that Kong does not know")
	}
	return nil
}
