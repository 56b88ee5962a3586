// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"net/netip"
	"time"
)

// Settings are the cluster-wide settings. Package settings makes them from the ConfigMap and says what each key means;
// DefaultSettings is what an empty ConfigMap gives. A new setting gets its field here and its key there.
type Settings struct {
	// Route is what a route has when no annotation says otherwise.
	Route Policy
	// Passthrough puts package l4 before the HTTPS port, so that hosts can leave TLS to their backends; see [Passthrough]. A flag says so.
	Passthrough bool
	// Closed, when not empty, is why every route is closed: a control in the settings could not be built as written.
	Closed string
	// ForceHTTPSRedirect redirects also hosts without a certificate. Route.HTTPSRedirect needs one.
	ForceHTTPSRedirect bool
	// HTTPSRedirectCode is the status of redirects to HTTPS: 301, 302, 307 or 308.
	HTTPSRedirectCode int
	// VirtualServices takes a Service's own address as its only endpoint, unless an annotation says otherwise.
	VirtualServices bool
	// NoAuth are beginnings of rule paths whose routes ask neither for a login nor an external server.
	NoAuth []string
	// GlobalAuth is the external auth of every route that has none of its own and does not decline; nil for none.
	GlobalAuth *ExternalAuth
	// LimitStatus and ConnectionLimitStatus are the answers to requests beyond a rate, and beyond a number at once.
	LimitStatus, ConnectionLimitStatus int
	// LimitKey is what limits are counted by; empty for the client's address.
	LimitKey Template
	// RetryNonIdempotent lets every route that tries again do so for POST, LOCK and PATCH too.
	RetryNonIdempotent bool
	// RedirectFrom and RedirectTo are the halves of Route.Location, for annotations that say one of them; empty for nothing.
	RedirectFrom, RedirectTo string
	// AllowedResponseHeaders are the names that custom-headers may set.
	AllowedResponseHeaders []string
	// CrossNamespace lets annotations name Secrets and ConfigMaps of other namespaces.
	CrossNamespace bool
	// RiskLevel is the highest risk of an annotation that counts: "Low", "Medium", "High" or "Critical".
	RiskLevel string
	// Snippets lets annotations hold raw nginx configuration. They also need RiskLevel "Critical".
	Snippets bool
	// StrictPaths lets the admission webhook refuse paths of the types Exact and Prefix that have other than plain characters.
	StrictPaths bool
	// ForbiddenWords close the routes of an Ingress when an annotation's value contains one.
	ForbiddenWords []string

	// NoHTTPSRedirect are beginnings of rule paths that are never redirected to HTTPS.
	NoHTTPSRedirect []string
	// HSTS is the Strict-Transport-Security header of responses over TLS; empty for none.
	HSTS string
	// HTTP2 offers HTTP/2 to clients.
	HTTP2 bool
	// Workers is the number of nginx workers; 0 means one per CPU.
	Workers int
	// WorkerConnections is how many connections a worker holds at most.
	WorkerConnections int
	// WorkerShutdownTimeout is how long an old worker may finish its connections after a reload or a stop.
	WorkerShutdownTimeout time.Duration
	// KeepaliveConnections is the number of idle connections to backends that a worker keeps; 0 closes each after use.
	KeepaliveConnections int
	// AccessLog and DefaultBackendLog turn the access log on, the second for the built-in location of the catch-all host.
	AccessLog         bool
	DefaultBackendLog bool
	// LogFormat is the access log line, in nginx' words. It comes from the admin.
	LogFormat string
	// TLSProtocols and TLSCiphers are given to nginx as they are.
	TLSProtocols string
	TLSCiphers   string
	// ServerTokens shows the Server header.
	ServerTokens bool

	// See client.go.
	Client      Client
	TLS         TLS
	StreamProxy StreamProxy
	SpanExport  SpanExport

	// What stands in nginx.conf for all: see tuning.go.
	Compression Compression
	Connections ClientLimits
	Upstream    Upstream
	Worker      Worker
	Listen      Listen
	Logs        Logs
	Headers     Headers
	Blocked     Blocked
	Raw         Raw
	GeoIP       GeoIP
	// SkipLog are the request targets that are not logged.
	SkipLog []TextMatch
	// StatusFrom are the clients that may read /nginx_status.
	StatusFrom []netip.Prefix
}

// DefaultLogFormat is the predecessor's access log line, a public interface.
const DefaultLogFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" ` +
	`$request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr ` +
	`$upstream_response_length $upstream_response_time $upstream_status $req_id`

// DefaultSettings are the settings of an empty ConfigMap, equal to the predecessor's.
func DefaultSettings() Settings {
	s := Settings{
		Route: Policy{
			BodyLimit:     1 << 20,
			Timeouts:      Timeouts{Connect: 5 * time.Second, Send: 60 * time.Second, Read: 60 * time.Second},
			Retries:       Retries{On: RetryError | RetryTimeout, Tries: 3},
			Buffers:       Buffers{Request: true, Number: 4, Size: 4 << 10, MaxTempFile: 1 << 30, RequestBody: 8 << 10},
			HTTPSRedirect: true,
		},
		NoAuth:      []string{"/.well-known/acme-challenge"},
		LimitStatus: 503, ConnectionLimitStatus: 503,
		RiskLevel:             "High",
		StrictPaths:           true,
		HTTPSRedirectCode:     308,
		NoHTTPSRedirect:       []string{"/.well-known/acme-challenge"},
		HSTS:                  "max-age=31536000; includeSubDomains",
		HTTP2:                 true,
		WorkerConnections:     16384,
		WorkerShutdownTimeout: 240 * time.Second,
		KeepaliveConnections:  320,
		AccessLog:             true,
		LogFormat:             DefaultLogFormat,
		Client:                defaultClient(),
		TLS:                   defaultTLS(),
		StreamProxy:           defaultStreamProxy(),
		SpanExport:            defaultSpanExport(),
		TLSProtocols:          "TLSv1.2 TLSv1.3",
		TLSCiphers: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:" +
			"ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256",
	}
	s.tune()
	return s
}
