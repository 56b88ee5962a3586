// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import "github.com/fairway-ingress/fairway/internal/model"

// KeyAuth is an API key.
type KeyAuth struct {
	Meta
	Consumer *Reference   `kong:"consumer"`
	Key      model.Secret `kong:"key"`
	TTL      int          `kong:"ttl"` // seconds; 0 is for ever
}

// BasicAuth is a name and a password. Kong stores a hash of the password and shows that.
type BasicAuth struct {
	Meta
	Consumer *Reference   `kong:"consumer"`
	Username string       `kong:"username"`
	Password model.Secret `kong:"password"`
}

// HMACAuth is a name and a key for signatures.
type HMACAuth struct {
	Meta
	Consumer *Reference   `kong:"consumer"`
	Username string       `kong:"username"`
	Secret   model.Secret `kong:"secret"`
}

// JWT is an issuer of tokens and the key that they are verified with.
type JWT struct {
	Meta
	Consumer     *Reference   `kong:"consumer"`
	Key          string       `kong:"key"`
	Algorithm    string       `kong:"algorithm"` // HS256 unless given
	Secret       model.Secret `kong:"secret"`
	RSAPublicKey string       `kong:"rsa_public_key"`
}

// OAuth2 is an application that may ask for tokens.
type OAuth2 struct {
	Meta
	Consumer     *Reference   `kong:"consumer"`
	Name         string       `kong:"name"`
	ClientID     string       `kong:"client_id"`
	ClientSecret model.Secret `kong:"client_secret"`
	RedirectURIs []string     `kong:"redirect_uris"`
	HashSecret   bool         `kong:"hash_secret"`
	ClientType   string       `kong:"client_type"` // confidential unless given
}

// ACL makes a consumer a member of a group that the plugin acl knows.
type ACL struct {
	Meta
	Consumer *Reference `kong:"consumer"`
	Group    string     `kong:"group"`
}

// MTLSAuth is a subject of client certificates; Enterprise only.
type MTLSAuth struct {
	Meta
	Consumer      *Reference `kong:"consumer"`
	SubjectName   string     `kong:"subject_name"`
	CACertificate *Reference `kong:"ca_certificate"`
}
