// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import "time"

// Kong is what a data plane that is a Kong Gateway is told beside the hosts. All lists are in an order of their own that does not depend on the
// order of events: what is older stands first, which decides conflicts.
type Kong struct {
	Routes []*KongRoute
	// Services are sorted by ID and unique. Every KongServiceID that a route names is here, also one without targets.
	Services []*KongService
	// GlobalPlugins apply to every request.
	GlobalPlugins []*KongPlugin
	Consumers     []*KongConsumer
	// Groups are the consumer groups that a consumer names or that have an object.
	Groups []*KongConsumerGroup
	// Certificates are those that a server name or a service uses, sorted by owner.
	Certificates []*KongCertificate
	// ServerNames are unique. Their certificates are among Certificates.
	ServerNames []KongServerName
	// LostNames are those whose Secret holds no certificate, by the age of who claims them. One of them may be among ServerNames: then a younger object
	// claims it as well.
	LostNames []KongLostName
	// Authorities are certificates that others are verified with.
	Authorities []*KongAuthority
}

// Origin is the object for which something exists, with what tags say of it.
type Origin struct {
	Ref
	UID            string
	Group, Version string
}

// KongRoute is what one object sends to one service. The paths of an Ingress that have the same host and backend are one route.
type KongRoute struct {
	Origin Origin
	// Field is the place of the first path, or of the rule.
	Field string
	Kind  KongRouteKind
	// Host is a name, "*." and a name, or empty for any. Aliases are further names.
	Host    string
	Aliases []string
	Paths   []KongPath
	// Index is the number of the rule and Port what the gateway listens on, for the kinds that have no paths.
	Index, Port int
	// Part tells the route from others of the same object, host and service; empty for the one of their paths.
	Part string
	// Service is zero when nobody answers: then the route is closed.
	Service KongServiceID
	// Fallback takes the requests while Service has no target for them and it has one; zero for nobody.
	Fallback KongServiceID
	Canaries []KongCanary
	Options  KongRouteOptions
	Plugins  []KongAttachment
	// Policy is what Fairway's own annotations and settings ask for; nil for nothing but the defaults.
	Policy *Policy
	// Site is the host that Fairway's own annotations speak of; nil for none.
	Site *Host
	// Redirect answers every request; nil serves them. It goes before that of Policy.
	Redirect *KongRedirect
	// HTTPSOnly sends plain requests to HTTPS with that status; 0 leaves them.
	HTTPSOnly int
	// Closed, when not empty, is the reason why every request is answered with 503.
	Closed string
}

// KongRouteKind says what a route is of.
type KongRouteKind uint8

// The kinds of route.
const (
	KongHTTP        KongRouteKind = iota // paths of an Ingress
	KongHTTPDefault                      // the default backend of an Ingress
	KongTCP                              // a rule of a TCPIngress
	KongUDP                              // a rule of a UDPIngress
)

// KongPath is a path and how it is compared.
type KongPath struct {
	Field string
	Kind  KongPathKind
	Path  string // for KongRegex the expression without anchor
}

// KongPathKind says how a path is compared.
type KongPathKind uint8

// The kinds of path.
const (
	KongExact  KongPathKind = iota // the path itself
	KongPrefix                     // the path and what is below it, by segments
	KongText                       // every path that begins with the text
	KongRegex                      // an expression, from the beginning of the path on
)

// KongRedirect answers with a status and a Location.
type KongRedirect struct {
	Redirect
	// KeepPath puts the path and query of the request behind URL, which then has none of its own.
	KeepPath bool
}

// KongCanary takes a share of a route's requests.
type KongCanary struct {
	Canary
	Service KongServiceID
}

// KongRouteOptions are what annotations say of a route.
type KongRouteOptions struct {
	Protocols    []string // empty for http and https
	StripPath    bool
	PreserveHost bool
	// RedirectStatus answers plain requests to routes of HTTPS; 0 for Kong's own.
	RedirectStatus    int
	RegexPriority     *int
	Methods           []string
	Headers           []KongHeader // sorted by name
	SNIs              []string
	PathHandling      string // "v0", "v1" or empty
	RequestBuffering  *bool
	ResponseBuffering *bool
	// Rewrite is the URI sent to the service, in which $1 to $9 stand for groups of the path and \$ for a dollar; empty leaves it.
	Rewrite string
	Tags    []string
}

// KongHeader is a header and the values of which it must have one.
type KongHeader struct {
	Name   string
	Values []string
}

// KongServiceID names a port of a Service, or of a KongServiceFacade. Two transports are two services.
type KongServiceID struct {
	Namespace string
	Name      string
	Port      string // number or name; "implicitPort" where none is written
	Transport KongTransport
	Facade    bool
	// Virtual takes the Service's own address as the only target, instead of the addresses behind it.
	Virtual bool
}

// IsZero tells whether no service is named.
func (id KongServiceID) IsZero() bool { return id == KongServiceID{} }

// String gives "namespace/name/port", with the transport behind it where that is not HTTP.
func (id KongServiceID) String() string {
	text := id.Namespace + "/" + id.Name + "/" + id.Port
	switch id.Transport {
	case KongOverTCP:
		text += "/tcp"
	case KongOverUDP:
		text += "/udp"
	}
	if id.Facade {
		text += "/facade"
	}
	if id.Virtual {
		text += "/virtual"
	}
	return text
}

// KongTransport is what a route carries.
type KongTransport uint8

// The transports.
const (
	KongOverHTTP KongTransport = iota
	KongOverTCP
	KongOverUDP
)

// KongService is where requests go.
type KongService struct {
	ID     KongServiceID
	Origin Origin
	// Protocol is Kong's word: http, https, grpc, grpcs, tcp, tls, tls_passthrough, udp.
	Protocol string
	Port     int // of the Service; 0 when unknown
	Path     string
	Retries  *int
	// The timeouts are milliseconds, 0 for 60000.
	ConnectTimeout, ReadTimeout, WriteTimeout int
	ClientCertificate                         *KongCertificate
	TLSVerify                                 *bool
	TLSVerifyDepth                            *int
	Authorities                               []*KongAuthority
	HostHeader                                string
	Upstream                                  *KongUpstream // nil for Kong's defaults
	// Health is how Fairway's own annotations want the targets judged; nil for not at all. SlowStart is what they say of new ones.
	Health    *Health
	SlowStart time.Duration
	Targets   []KongTarget // sorted by address, unique; none means 503
	Plugins   []KongAttachment
	Tags      []string
	// Closed, when not empty, is the reason why every route to it is answered with 503.
	Closed string
}

// KongTarget is an address that serves, and its weight among the others of its service; 0 takes no new requests.
type KongTarget struct {
	Address string // host:port
	Weight  int
}

// KongUpstream is how requests are spread over targets: the fields of a KongUpstreamPolicy.
type KongUpstream struct {
	Origin         Origin
	Algorithm      string
	Slots          int
	HashOn         KongHash
	HashOnFallback KongHash
	// Healthchecks holds JSON values in Kong's own words; nil for none.
	Healthchecks map[string]any
	HostHeader   string
}

// KongHash is what requests are hashed by: an input ("ip", "consumer", "path", "none") or one of the others; zero for nothing said.
type KongHash struct {
	Input, Header, Cookie, CookiePath, QueryArg, URICapture string
}

// IsZero tells whether nothing is said.
func (h KongHash) IsZero() bool { return h == KongHash{} }

// KongPlugin is a plugin as an object describes it.
type KongPlugin struct {
	Origin Origin
	// Created is the age of the object: of two plugins for the same requests the older wins.
	Created      time.Time
	Plugin       string
	InstanceName string
	// Config holds JSON values: nil, bool, string, json.Number, []any, map[string]any, and Secret for text out of a Secret.
	Config    map[string]any
	Protocols []string
	Disabled  bool
	Ordering  map[string]any
	Tags      []string
	// Broken, when not empty, is why the plugin cannot be built as written.
	Broken string
}

// KongAttachment is a plugin that an object asks for.
type KongAttachment struct {
	// Name is the plugin's as the object writes it.
	Name string
	// Plugin is nil when there is no such plugin, or it may not be used here.
	Plugin *KongPlugin
}

// KongConsumer is somebody who sends requests.
type KongConsumer struct {
	Origin      Origin
	Username    string
	CustomID    string
	Credentials []*KongCredential
	Groups      []string
	Plugins     []KongAttachment
	Tags        []string
}

// KongCredential is what a consumer shows.
type KongCredential struct {
	Origin Origin // the Secret
	// Type is the plugin that reads it: key-auth, basic-auth, hmac-auth, jwt, oauth2, acl, mtls-auth.
	Type   string
	Fields map[string]Secret
}

// Get gives a field, or "".
func (c *KongCredential) Get(field string) string { return c.Fields[field].Reveal() }

// KongConsumerGroup is a set of consumers.
type KongConsumerGroup struct {
	Origin  Origin
	Name    string
	Plugins []KongAttachment
	Tags    []string
}

// KongCertificate is a certificate and its key.
type KongCertificate struct {
	Origin Origin
	Chain  string
	Key    Secret
}

// KongServerName is a TLS server name with the certificate that answers for it; "*" is all others.
type KongServerName struct {
	Name        string
	Certificate *KongCertificate
	// Secret is that by which the name is claimed. The certificate may be of another one with the same content.
	Secret Origin
}

// KongLostName is a TLS server name that is claimed with a Secret without a certificate, so that the last good one is to stay.
type KongLostName struct {
	Name   string // empty where the certificate was to say for which names it is
	Secret Ref
	Owner  Ref // who claims it, and where
	Field  string
}

// KongAuthority is a certificate that others are verified with.
type KongAuthority struct {
	Origin Origin
	ID     string // a UUID
	Cert   string // one PEM block
}
