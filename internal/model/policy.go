// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Policy is the effect of annotations, and of the settings they default to, on one route. Parts that are pointers are nil where
// nothing is asked for, and never change once they are in a model.
type Policy struct {
	Protocol Protocol
	// BodyLimit is the largest request body in bytes; 0 means no limit.
	BodyLimit int64
	Timeouts  Timeouts
	Retries   Retries
	Buffers   Buffers
	// HTTPVersion10 speaks HTTP/1.0 instead of 1.1 to the backend.
	HTTPVersion10 bool
	// Rewrite replaces the path sent to the backend; nil leaves it.
	Rewrite *Rewrite
	// Host is the Host header sent to the backend; empty leaves the client's.
	Host Template
	// Connection is the Connection header sent to the backend, "close" or "keep-alive"; empty for what the request needs.
	Connection string
	// ForwardedPrefix is the X-Forwarded-Prefix header sent to the backend of a route with a Rewrite, in which $1 to $9 stand for groups.
	ForwardedPrefix string
	// Redirect answers every request; nil serves them.
	Redirect *Redirect
	// HTTPSRedirect sends plain-HTTP requests to HTTPS.
	HTTPSRedirect bool
	// KeepTrailingSlash leaves the last "/" of the URI in that redirect.
	KeepTrailingSlash bool
	// PortInRedirects adds the HTTPS port to that redirect, and the own port to those that nginx makes.
	PortInRedirects bool
	// RelativeRedirects leaves a redirect to a path without scheme and host.
	RelativeRedirects bool

	Balance     *Balance // nil is round robin
	UpstreamTLS *UpstreamTLS
	FastCGI     *FastCGI

	Access       *Access
	Login        *Login
	ExternalAuth *ExternalAuth
	// AnyAccess lets a request pass that passes one of Access, Login and ExternalAuth; otherwise it must pass all.
	AnyAccess bool
	RateLimit *RateLimit
	Bandwidth Bandwidth
	CORS      *CORS
	WAF       *WAF
	Errors    *Errors
	// Fallback gets the requests while the backend has no endpoint and it has one; zero for nobody.
	Fallback BackendID
	Mirror   *Mirror

	// ResponseHeaders are set on every response, sorted by name; they replace those of the backend.
	ResponseHeaders []Header
	// CookieDomain and CookiePath replace an attribute of the backend's cookies, Location the beginning of its Location and Refresh
	// headers; nil leaves them.
	CookieDomain *Replacement
	CookiePath   *Replacement
	Location     *Replacement

	// Unlogged leaves the requests out of the access log.
	Unlogged bool
	// LogRewrites notes in the error log what Rewrite did.
	LogRewrites bool
	Tracing     *Tracing
	// Snippet is raw nginx configuration for the route's location, which the admin allowed; zero for none.
	Snippet Snippet
}

// Protocol is what a backend speaks.
type Protocol uint8

// The protocols towards backends.
const (
	HTTP Protocol = iota
	HTTPS
	GRPC
	GRPCS
	FCGI
	// AutoHTTP is HTTPS for requests that came over TLS, else HTTP.
	AutoHTTP
)

// Timeouts bound the wait for a backend, each in whole seconds or more; none is zero.
type Timeouts struct {
	Connect time.Duration // to establish a connection
	Send    time.Duration // between two writes
	Read    time.Duration // between two reads
}

// RetryCondition is a failure after which another endpoint is tried.
type RetryCondition uint16

// The conditions, bits of a set.
const (
	RetryError RetryCondition = 1 << iota
	RetryTimeout
	RetryInvalidHeader
	Retry500
	Retry502
	Retry503
	Retry504
	Retry403
	Retry404
	Retry429
	RetryNonIdempotent // also POST, LOCK and PATCH
)

// RetryConditions gives the conditions in nginx' words, by their bit.
func RetryConditions() []string {
	return []string{"error", "timeout", "invalid_header", "http_500", "http_502", "http_503", "http_504", "http_403", "http_404", "http_429", "non_idempotent"}
}

// Retries say when another endpoint is tried.
type Retries struct {
	On RetryCondition // none: never
	// Tries is how many endpoints are tried at most, the first included; 0 means all.
	Tries int
	// Within is how long after the first try another may begin, in whole seconds; 0 means no bound.
	Within time.Duration
}

// Rewrite replaces what Pattern finds first in the decoded path, whatever its case, by Target, in which $1 to $9 stand for
// the groups of Pattern.
type Rewrite struct {
	Pattern string
	Target  string
}

// Redirect answers with a status between 301 and 308 and a Location.
type Redirect struct {
	Code int
	URL  string // absolute, or a path
}

// Template is text in which ${name} stands for an nginx variable of the request. Names are those that package annotation lets
// pass, so nothing of Fairway's own shows.
type Template string

// Header is a header line.
type Header struct {
	Name  string
	Value string
}

// Replacement of the text From by To.
type Replacement struct{ From, To string }

// NewReplacement gives the replacement of from by to; nil when one of them is empty.
func NewReplacement(from, to string) *Replacement {
	if from == "" || to == "" {
		return nil
	}
	return &Replacement{from, to}
}

// Affinity is a cookie that keeps a client on an endpoint.
type Affinity struct {
	// Persistent cookies name an endpoint. Others are hashed to one: when endpoints come or go, some clients move.
	Persistent bool
	Name       string // a token
	Path       string // begins with "/"; without ";" and control characters
	Domain     string // empty for none
	Secure     bool   // also over plain HTTP
	SameSite   string // "None", "Lax", "Strict" or empty
	// SameSiteUnlessBroken leaves SameSite=None out for browsers that mishandle it.
	SameSiteUnlessBroken bool
	// MaxAge and Expires are seconds from now; nil leaves the attribute out.
	MaxAge, Expires *int
	// ChangeOnFailure takes another endpoint, and cookie, when the one of the cookie fails.
	ChangeOnFailure bool
}

// UpstreamTLS says how the backend's certificate is verified and which one is shown to it.
type UpstreamTLS struct {
	// CA is PEM, the trust anchors; Verify demands a certificate of theirs, with a chain of at most Depth.
	CA     string
	Verify bool
	Depth  int
	// Name is what is verified, and sent as SNI when SNI is set; empty for the name of the Service.
	Name Template
	SNI  bool
	// Ciphers are OpenSSL's names and Protocols nginx' words; both closed sets.
	Ciphers   string
	Protocols string
	// Certificate is a chain and its key to show to the backend; nil for none.
	Certificate *Certificate
}

// FastCGI is how a FastCGI backend is asked.
type FastCGI struct {
	Index string // appended to paths that end in "/"
	// Params are sorted by name.
	Params []Param
}

// Param is a FastCGI parameter.
type Param struct {
	Name  string // letters, digits, "." "-" "_"
	Value Template
}

// Access lets in and keeps out clients by their address: those of Deny get 403, then those of Allow pass, then, if there is any Allow, the rest
// gets 403.
type Access struct {
	Allow, Deny []netip.Prefix // sorted, unique
}

// Login demands a user's password.
type Login struct {
	Digest bool // RFC 7616, else Basic of RFC 7617
	Realm  string
	// Users are sorted by name and unique.
	Users []User
}

// IsSlow tells whether one of the hashes takes so long to verify that nothing else may wait for it: those of crypt(3) but for DES and MD5. A nil Login
// is not.
func (l *Login) IsSlow() bool {
	return l != nil && !l.Digest && slices.ContainsFunc(l.Users, func(u User) bool {
		hash := u.Hash.Reveal()
		return len(hash) > 1 && hash[0] == '$' && strings.IndexByte("256y", hash[1]) >= 0
	})
}

// User is somebody who may log in.
type User struct {
	Name string
	// Hash is of the password, as nginx or crypt(3) make it; for Digest of name, realm and password, as htdigest makes it.
	Hash Secret
}

// URL is where Fairway itself sends requests on behalf of a route.
type URL struct {
	HTTPS bool
	// Backend is where the connection goes; zero when the URL's host is the request's own, so that it goes to this nginx itself.
	Backend BackendID
	// Host is the Host header and, over TLS, the name that is asked for.
	Host Template
	// Path begins with "/" and may have a query.
	Path Template
}

// ExternalAuth asks another server about each request.
type ExternalAuth struct {
	URL    URL
	Method string // empty for GET
	// SignIn is where a client is redirected instead of 401; empty for nowhere. SignInParam is the query parameter with the original URL.
	SignIn      Template
	SignInParam string
	// ResponseHeaders of the answer are set on the request to the backend; sorted.
	ResponseHeaders []string
	// RequestHeaders are sent to the server besides; sorted by name.
	RequestHeaders []Header
	// RequestRedirect is the value of X-Auth-Request-Redirect; empty for the request's own URI.
	RequestRedirect string
	// AlwaysSetCookie copies Set-Cookie of the answer whatever the status of the response.
	AlwaysSetCookie bool
	// CacheKey, when not empty, keeps answers for the time that CacheFor gives for their status.
	CacheKey Template
	CacheFor []CacheTime
	// Snippet is raw nginx configuration for the location of the question.
	Snippet Snippet
}

// CacheTime is how long an answer with a status is kept; status 0 stands for any.
type CacheTime struct {
	Status int
	For    time.Duration
}

// RateLimit bounds requests. Limits are counted per Name and key.
type RateLimit struct {
	// Name is what shares the counters: "namespace/name" of the Ingress.
	Name string
	// PerSecond and PerMinute are rates, each with a burst of so many requests beyond; 0 means no limit.
	PerSecond, SecondBurst int
	PerMinute, MinuteBurst int
	// Connections is how many requests may be in progress; 0 means no limit.
	Connections int
	// Exempt clients are not counted; sorted.
	Exempt []netip.Prefix
}

// Bandwidth bounds how fast a response is sent, in bytes per second, after the first bytes of it; Rate 0 means no bound.
type Bandwidth struct{ Rate, After int64 }

// CORS answers preflight requests and sets the headers of cross-origin requests.
type CORS struct {
	// Origins are "*" alone, or origins that may have "*." before the host.
	Origins       []string
	Methods       string
	Headers       string
	ExposeHeaders string
	Credentials   bool
	MaxAge        int
}

// WAF is ModSecurity.
type WAF struct {
	// CoreRules adds the OWASP core rule set.
	CoreRules bool
	// TransactionID of each request; empty for one of ModSecurity's own.
	TransactionID Template
	// Rules are ModSecurity's, instead of the recommended ones; zero for none.
	Rules Snippet
}

// Errors replaces responses by those of a backend.
type Errors struct {
	Codes []int // 300 to 599, sorted, unique, never 499
	// Intercept also replaces what the route's backend answers, not only what the proxy itself does.
	Intercept bool
	// Backend is zero for the model's default backend.
	Backend BackendID
}

// Mirror sends a copy of each request.
type Mirror struct {
	URL  URL
	Body bool
}

// Tracing is what annotations say about spans; nil follows the settings.
type Tracing struct {
	On            bool
	TrustIncoming *bool
	Operation     string
}

// HostTLS is what is special about the handshake with a host.
type HostTLS struct {
	// ClientCA is PEM: whose certificates clients may show. Empty asks for none.
	ClientCA string
	// ClientCRL is PEM of revocation lists; empty for none.
	ClientCRL string
	Verify    Verify
	Depth     int
	// ErrorPage is where clients go whose certificate fails: an http(s) URL or a path of the host; empty for 400.
	ErrorPage string
	// PassCertificate sends the certificate to the backend.
	PassCertificate bool
	// MatchCN is a Go expression that the certificate's subject must contain; empty for no demand.
	MatchCN string
	// Ciphers is an OpenSSL cipher list; empty as the settings say. PreferServer nil likewise.
	Ciphers      string
	PreferServer *bool
}

// Verify is how client certificates are checked.
type Verify uint8

// The ways to check.
const (
	VerifyOn Verify = iota
	VerifyOff
	VerifyOptional     // checked when there is one
	VerifyOptionalNoCA // never a reason to fail
)

// Snippet is raw nginx configuration. It comes from a tenant and is only in a model when the admin allows that.
type Snippet string
