// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import "github.com/fairway-ingress/fairway/internal/model"

// Fields that are zero are left out of what is sent, and Kong then takes its default. Pointers are used where zero says something else.

// Service is where requests go: a name or an upstream, and how to talk to it.
type Service struct {
	Meta
	Name     string `kong:"name"`
	Protocol string `kong:"protocol"` // http unless given
	// Host is the name of an upstream, or a DNS name or an address.
	Host string `kong:"host"`
	Port int    `kong:"port"` // 80 unless given
	Path string `kong:"path"`
	// Retries is 5 unless given; the timeouts are in milliseconds, 60000 unless given.
	Retries        *int `kong:"retries"`
	ConnectTimeout int  `kong:"connect_timeout"`
	ReadTimeout    int  `kong:"read_timeout"`
	WriteTimeout   int  `kong:"write_timeout"`
	// What follows is for the protocols https and tls.
	ClientCertificate *Reference `kong:"client_certificate"`
	TLSVerify         *bool      `kong:"tls_verify"`
	TLSVerifyDepth    *int       `kong:"tls_verify_depth"`
	CACertificates    []string   `kong:"ca_certificates"` // ids
	Enabled           *bool      `kong:"enabled"`         // true unless given; since 2.7
}

// Route says which requests go to a service.
type Route struct {
	Meta
	Name      string              `kong:"name"`
	Protocols []string            `kong:"protocols,set"`
	Methods   []string            `kong:"methods,set"`
	Hosts     []string            `kong:"hosts"`
	Paths     []string            `kong:"paths"`
	Headers   map[string][]string `kong:"headers"`
	SNIs      []string            `kong:"snis,set"`
	// Sources and Destinations are for the stream protocols.
	Sources      []Peer `kong:"sources,set"`
	Destinations []Peer `kong:"destinations,set"`

	HTTPSRedirectStatusCode int    `kong:"https_redirect_status_code"` // 426 unless given
	RegexPriority           *int   `kong:"regex_priority"`             // 0 unless given
	StripPath               *bool  `kong:"strip_path"`                 // true unless given
	PreserveHost            *bool  `kong:"preserve_host"`              // false unless given
	PathHandling            string `kong:"path_handling"`              // v0 unless given
	RequestBuffering        *bool  `kong:"request_buffering"`          // true unless given
	ResponseBuffering       *bool  `kong:"response_buffering"`         // true unless given
	// Service may be nil where a plugin answers.
	Service *Reference `kong:"service"`
	// Expression and Priority are for the router flavor "expressions" and take the place of the fields that match.
	Expression string `kong:"expression"`
	Priority   int64  `kong:"priority"`
}

// Peer is one side of a connection: an address or a range, a port, or both.
type Peer struct {
	IP   string `kong:"ip"`
	Port int    `kong:"port"`
}

// Certificate is a chain and its key, and maybe a second pair of another key type.
type Certificate struct {
	Meta
	Cert    string       `kong:"cert"`
	Key     model.Secret `kong:"key"`
	CertAlt string       `kong:"cert_alt"`
	KeyAlt  model.Secret `kong:"key_alt"`
}

// SNI binds a TLS server name to a certificate: a name, "*." and a name, a name and ".*", or "*" for all others.
type SNI struct {
	Meta
	Name        string     `kong:"name"`
	Certificate *Reference `kong:"certificate"`
}

// CACertificate is one certificate that others are verified with.
type CACertificate struct {
	Meta
	Cert string `kong:"cert"`
}

// Plugin is a plugin at work, for all requests or those of a scope.
type Plugin struct {
	Meta
	Name          string     `kong:"name"`
	InstanceName  string     `kong:"instance_name"` // since 3.2
	Service       *Reference `kong:"service"`
	Route         *Reference `kong:"route"`
	Consumer      *Reference `kong:"consumer"`
	ConsumerGroup *Reference `kong:"consumer_group"` // Enterprise
	// Config holds JSON values: nil, bool, string, any number, json.Number, []any, map[string]any, and model.Secret for text that people must
	// not see. A nil value in it is sent as null.
	Config    map[string]any `kong:"config"`
	Protocols []string       `kong:"protocols,set"`
	Enabled   *bool          `kong:"enabled"`  // true unless given
	Ordering  map[string]any `kong:"ordering"` // Enterprise
}

// Consumer is somebody who sends requests.
type Consumer struct {
	Meta
	Username string `kong:"username"`
	CustomID string `kong:"custom_id"`
}

// ConsumerGroup is a set of consumers; Enterprise only.
type ConsumerGroup struct {
	Meta
	Name string `kong:"name"`
}

// Membership puts a consumer into a group; Enterprise only.
type Membership struct {
	Meta
	ConsumerGroup *Reference `kong:"consumer_group"`
	Consumer      *Reference `kong:"consumer"`
}

// NewMembership puts the consumer with an id into a group. The id of a membership is only known here: it is made of theirs, and has no tags.
func NewMembership(group, consumer string) *Membership {
	return &Membership{
		Meta: Meta{ID: NewID(Memberships, group+"/"+consumer)}, ConsumerGroup: &Reference{ID: group}, Consumer: &Reference{ID: consumer},
	}
}
