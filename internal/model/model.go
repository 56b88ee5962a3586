// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"reflect"
	"slices"
	"time"
)

// CatchAll is the name of the host that answers for every host name that no other host covers.
const CatchAll = "_"

// Model is everything that a data plane has to know.
type Model struct {
	// Settings are the cluster-wide settings of the admin.
	Settings Settings
	// SettingsID tells versions of the settings as they were written apart; empty for the defaults.
	SettingsID string
	// Hosts are sorted by name and unique; the catch-all host is always among them.
	Hosts []*Host
	// Backends are sorted by ID and unique. Every BackendID that a route names is here, also one without endpoints.
	Backends []*Backend
	// Certificates are sorted by ID and unique.
	Certificates []*Certificate
	// ServerNames says which certificates answer for which TLS server name; sorted by name and unique.
	ServerNames []ServerName
	// DefaultCertificates answer when no server name matches, at most one per key type. Empty: the data plane uses a
	// self-signed one of its own.
	DefaultCertificates []CertificateID
	// DefaultBackend answers what no route matches. Zero: the built-in page, 404.
	DefaultBackend BackendID
	// Streams is raw nginx configuration of the stream block, which the admin allowed, in the order of age.
	Streams []Snippet
	// Listeners are the ports of TCP and UDP services, sorted by transport and port.
	Listeners []*Listener
	// Kong is nil unless the data plane is a Kong Gateway, which then takes its routes from there.
	Kong *Kong
	// Problems are all that was refused or shadowed; sorted by object, field, reason.
	Problems []Problem
}

// Host is one virtual host.
type Host struct {
	// Name is a lower-case DNS name, "*." and a DNS name for one leading label of any text, or CatchAll.
	Name string
	// Aliases are other names with the same matches, in the form of Name, sorted and unique. No host of the model has one of them as name.
	Aliases []string
	// Patterns are expressions for further names, unanchored PCRE whatever the case, tried when no name, alias or wildcard
	// fits; those of hosts earlier in the model first.
	Patterns []string
	// Matches are in the order in which they are tried; see [Match]. Unique by kind and path.
	Matches []Match
	// AppRoot is where a request for "/" alone is redirected to; empty for nowhere.
	AppRoot string
	// RedirectTo is the name of the host to which every request is redirected; empty for a host that serves. A host that redirects has no matches.
	RedirectTo string
	// Closed, when not empty, is the reason why every request to the host is answered with 403: its client certificates cannot be verified as
	// written.
	Closed string
	// TLS is what is special about the handshake with this host; nil for nothing.
	TLS *HostTLS
	// Passthrough, when not nil, takes connections over TLS as they are, where passthrough is on; see [Passthrough].
	Passthrough *Passthrough
	// Snippet is raw nginx configuration of this host, which the admin allowed; zero for none.
	Snippet Snippet
}

// Passthrough leaves TLS with a host to its backend: matches and policies are for requests in plain text alone.
type Passthrough struct {
	// Backend is zero when the connections are closed, as no path says where they lead.
	Backend BackendID
}

// MatchKind says how the path of a Match is compared with the path of a request.
type MatchKind uint8

// The kinds of path match. The numbers are their rank among matches of one host that is not in regex mode.
const (
	// Exact matches the path itself and beats every Prefix.
	Exact MatchKind = iota
	// Prefix matches every request path that begins with the text; the text always ends in "/". The longest wins.
	Prefix
	// Regex matches what the PCRE finds at the start of the path, whatever the case. The first in order wins. A host has
	// either Regex matches alone or none.
	Regex
)

// Match binds a path to a route. An Ingress path of type Prefix "/foo" gives two matches with one route: Exact "/foo" and
// Prefix "/foo/".
type Match struct {
	Kind  MatchKind
	Path  string // decoded; for Regex the expression without the leading anchor
	Route *Route
	// Slash is set for a path that is not served but answered by a redirect (301) to the same path and "/".
	Slash bool
}

// Route says what happens to the requests of one path.
type Route struct {
	// Owner is the object that declared the route, Field the place in it.
	Owner Ref
	Field string
	// Path is the path as its owner wrote it.
	Path string
	// Backend is zero when the model's default backend answers.
	Backend BackendID
	// Canaries are tried in order; the first that takes the request wins, else Backend has it.
	Canaries []Canary
	// Closed, when not empty, is the reason why every request is answered with 503: a control on this route could not
	// be built as written.
	Closed string
	// Policy is what is done to the requests and responses on their way.
	Policy Policy
}

// Canary sends a share of a route's requests to another backend. Header, cookie and weight decide in that order.
type Canary struct {
	Owner   Ref
	Backend BackendID
	// Header names a request header; "" none. Without HeaderValue and HeaderPattern the value "always" takes
	// the request and "never" refuses it. HeaderValue takes exactly that value. HeaderPattern is a case-sensitive PCRE.
	Header        string
	HeaderValue   string
	HeaderPattern string
	// Cookie names a cookie that takes the request by "always" and refuses it by "never"; "" none.
	Cookie string
	// Weight of WeightTotal requests are taken by chance.
	Weight      int
	WeightTotal int
	// Balance is how the canary's requests are spread over its endpoints; nil is round robin. Affinity in it is that of the route, unless
	// the canary asks for none.
	Balance *Balance
}

// BackendID names a port of a Service as an Ingress writes it: two spellings of one port are two backends, as in the
// predecessor's log and metrics.
//
// Without a namespace it names a host of a URL that somebody wrote: Service is then a DNS name or an address and Port a number.
type BackendID struct {
	Namespace string
	Service   string
	Port      string // number or name
	// Virtual takes the Service's own address as the only endpoint, instead of the addresses behind it.
	Virtual bool
	// Transport is that of the Listener whose backend it is, zero for backends of routes. One port number may be both.
	Transport Transport
}

// IsZero tells whether no backend is named.
func (id BackendID) IsZero() bool { return id == BackendID{} }

// SamePort tells whether both are of one port of a Service, whichever addresses they take.
func (id BackendID) SamePort(other BackendID) bool {
	id.Virtual, other.Virtual = false, false
	return id == other
}

// String gives "namespace/service/port", with "/virtual" or the transport behind it where there is that; it is unique.
func (id BackendID) String() string {
	text := id.Namespace + "/" + id.Service + "/" + id.Port
	if id.Virtual {
		text += "/virtual"
	}
	if id.Transport != 0 {
		text += "/" + id.Transport.String()
	}
	return text
}

// LogName gives "namespace-service-port", the predecessor's name for it in logs and metrics; it is not unique.
func (id BackendID) LogName() string { return id.Namespace + "-" + id.Service + "-" + id.Port }

// Backend is a set of endpoints that requests are balanced over.
type Backend struct {
	ID BackendID
	// Endpoints are sorted by address and port, and no two have the same; none means 503.
	Endpoints []Endpoint
	// Draining, sorted likewise and none of Endpoints, are about to go: they get the requests of clients whose cookies lead to them, and no others.
	Draining []Endpoint
	// SlowStart is that of routes that have none of their own, see Balance.
	SlowStart time.Duration
	// Health is how endpoints are judged; nil for not at all.
	Health *Health
	// Unhealthy are those of Endpoints that checks found unwell, sorted likewise. A build leaves it empty; see package health.
	Unhealthy []Endpoint
}

// Equal tells whether two backends are the same in all.
func (b *Backend) Equal(other *Backend) bool {
	same := b.ID == other.ID && slices.Equal(b.Endpoints, other.Endpoints) && slices.Equal(b.Draining, other.Draining) && slices.Equal(b.Unhealthy, other.Unhealthy)
	return same && b.SlowStart == other.SlowStart && reflect.DeepEqual(b.Health, other.Health)
}

// CertificateID is derived from the content of a certificate and its key: another content is another ID.
type CertificateID string

// Certificate is a certificate chain and its key.
type Certificate struct {
	ID CertificateID
	// Owner is the Secret it came from.
	Owner Ref
	// Chain is PEM, leaf first. Key is PEM and never printed.
	Chain string
	Key   Secret
	// Algorithm of the key: "RSA", "ECDSA" or "Ed25519".
	Algorithm string
	// NotAfter is when the leaf expires.
	NotAfter time.Time
	// OCSP is what the authority says of the certificate; zero when nobody knows.
	OCSP OCSPAnswer
}

// OCSPAnswer is a signed statement of an authority (RFC 6960).
type OCSPAnswer struct {
	Text  string // DER in base64
	Until time.Time
}

// ServerName binds a TLS server name, or "*." and a name for one leading label, to certificates, at most one per key algorithm.
type ServerName struct {
	Name         string
	Certificates []CertificateID
}

// Secret is text that prints as "[redacted]"; Reveal gives it.
type Secret struct{ text string }

// NewSecret wraps text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal gives the text, for those who must send it.
func (s Secret) Reveal() string { return s.text }

// String gives "[redacted]", so that no log or print shows the text.
func (s Secret) String() string { return "[redacted]" }

// Equal tells whether both have the same text.
func (s Secret) Equal(other Secret) bool { return s == other }

// GoString is String, for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalJSON is String, for JSON.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"[redacted]"`), nil }
