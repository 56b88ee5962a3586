// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"net/netip"
	"time"
)

// Compression says which responses are compressed.
type Compression struct {
	Gzip          bool
	GzipLevel     int      // 1 to 9
	GzipMinLength int      // bytes
	GzipTypes     []string // MIME types besides text/html; "*" for all
	// GzipDisable is an expression: clients whose User-Agent it finds get no gzip. Empty for none.
	GzipDisable string

	Brotli          bool
	BrotliLevel     int // 0 to 11
	BrotliMinLength int // bytes
	BrotliTypes     []string
}

// ClientLimits bounds what clients may do with a connection and with the header of a request.
type ClientLimits struct {
	KeepAlive         time.Duration // 0 closes after each response
	KeepAliveRequests int
	HeaderTimeout     time.Duration
	BodyTimeout       time.Duration
	HeaderBuffer      int64 // bytes
	LargeHeaders      int   // number of further buffers
	LargeHeaderSize   int64 // bytes of each
	Streams           int   // of an HTTP/2 connection at once
	Underscores       bool  // lets names of headers have "_"
	KeepInvalid       bool  // passes headers on whose names are not valid
	DefaultType       string
}

// Upstream is about connections to endpoints.
type Upstream struct {
	KeepaliveRequests int
	KeepaliveTime     time.Duration
	KeepaliveTimeout  time.Duration
	GRPCBuffer        int64 // bytes; 0 is nginx' own
	// IPv4Names leaves IPv6 addresses of ExternalName Services out.
	IPv4Names bool
}

// Worker tunes the nginx processes.
type Worker struct {
	CPUAffinity string // "auto" or masks; empty for none
	OpenFiles   int    // per worker; 0 for as many as the system allows
	MultiAccept bool
	AIOWrite    bool
	// SerialReloads keeps a reload waiting while workers of an earlier configuration still run.
	SerialReloads bool
	// Debug are the clients whose connections are logged in every detail.
	Debug []netip.Prefix
	// Zones are further shared memory zones for Lua of the admin; ZoneBytes is the least size of the zone that holds the state, 0 for any.
	Zones     []LuaZone
	ZoneBytes int64
	Hashes    Hashes
}

// LuaZone is a shared memory zone.
type LuaZone struct {
	Name  string
	Bytes int64
}

// Hashes are the sizes of nginx' hash tables. 0 is what fits, or nginx' own.
type Hashes struct {
	ServerNameBucket, ServerNameMax     int
	MapBucket                           int
	ProxyHeadersBucket, ProxyHeadersMax int
	VariablesBucket, VariablesMax       int
}

// Listen says where clients come in.
type Listen struct {
	ReusePort bool // a listening socket for each worker
	NoIPv6    bool
	// IPv4 and IPv6 are the addresses to listen on; none means what the command line says.
	IPv4, IPv6 []netip.Addr
}

// Logs says what nginx logs where.
type Logs struct {
	// HTTP and Stream are where access logs go: a path or empty for standard output; for HTTP also "syslog:server=…".
	HTTP, Stream string
	// Params are further parameters of access_log, each a word. For TCP and UDP services only gzip and gzip=LEVEL among them count.
	Params   []string
	NoStream bool // no log of TCP and UDP sessions
	AuthLog  bool // logs questions to other servers
	// Escape is "json", "none" or empty for nginx' own.
	Escape       string
	StreamFormat string
	ErrorLevel   string
	// ErrorPath is where the error log goes, empty for standard error; HTTPErrors is another destination for requests alone, empty for none.
	ErrorPath, HTTPErrors string
}

// Headers is what the admin does to the headers of all requests and responses.
type Headers struct {
	// Request are set on requests to backends, Response on all responses, in the order of names.
	Request, Response []TemplateHeader
	// RequestFrom and ResponseFrom are the ConfigMaps that hold them; zero for none.
	RequestFrom, ResponseFrom Ref
	// Hide are headers of backends that clients don't get.
	Hide          []string
	BackendServer bool // shows the backend's Server header
	OriginalURI   bool // tells backends the URI of the client
	NoRequestID   bool // gives requests without an ID none
}

// TemplateHeader is a header whose value has variables.
type TemplateHeader struct {
	Name  string
	Value Template
}

// Blocked are the clients that are answered with 403 everywhere.
type Blocked struct {
	Networks           []netip.Prefix
	UserAgents, Refers []TextMatch
}

// TextMatch is a text to compare with, whatever the case, or an expression to search for.
type TextMatch struct {
	Text       string // lower case unless Pattern
	Pattern    bool
	IgnoreCase bool // of Pattern
}

// Raw is raw nginx configuration of the admin, by where it stands.
type Raw struct {
	Main, HTTP, Server, Location, Stream Snippet
	// Auth stands where other servers are asked for global auth; Rules are those of ModSecurity.
	Auth, Rules Snippet
}

// GeoIP says whether the databases of MaxMind are read.
type GeoIP struct {
	On bool
	// Reload is how often workers look for other files by themselves; 0 is never, so that nginx is reloaded when they change.
	Reload time.Duration
}

// RawPart is one kind of raw configuration, with the setting that holds it.
type RawPart struct {
	Key string
	Of  func(r *Raw) *Snippet
	// Control says that requests must not pass without it.
	Control bool
}

// RawParts lists the kinds, in the order in which they are tested.
func RawParts() []RawPart {
	return []RawPart{
		{"main-snippet", func(r *Raw) *Snippet { return &r.Main }, false},
		{"http-snippet", func(r *Raw) *Snippet { return &r.HTTP }, false},
		{"server-snippet", func(r *Raw) *Snippet { return &r.Server }, false},
		{"location-snippet", func(r *Raw) *Snippet { return &r.Location }, false},
		{"stream-snippet", func(r *Raw) *Snippet { return &r.Stream }, false},
		{"global-auth-snippet", func(r *Raw) *Snippet { return &r.Auth }, true},
		{"modsecurity-snippet", func(r *Raw) *Snippet { return &r.Rules }, true},
	}
}

// WithRaw gives the settings with that raw configuration in place of theirs.
func (s Settings) WithRaw(raw Raw) Settings {
	s.Raw = raw
	if s.GlobalAuth != nil {
		auth := *s.GlobalAuth
		auth.Snippet = raw.Auth
		s.GlobalAuth = &auth
	}
	if s.Route.WAF != nil {
		waf := *s.Route.WAF
		waf.Rules = raw.Rules
		s.Route.WAF = &waf
	}
	return s
}

// gzipTypes are the types that are compressed by default; brotliTypes add one.
func gzipTypes() []string {
	return []string{
		"application/atom+xml", "application/javascript", "application/x-javascript", "application/json", "application/rss+xml",
		"application/vnd.ms-fontobject", "application/x-font-ttf", "application/x-web-app-manifest+json", "application/xhtml+xml", "application/xml",
		"font/opentype", "image/svg+xml", "image/x-icon", "text/css", "text/javascript", "text/plain", "text/x-component",
	}
}

func brotliTypes() []string {
	return []string{
		"application/xml+rss", "application/atom+xml", "application/javascript", "application/x-javascript", "application/json", "application/rss+xml",
		"application/vnd.ms-fontobject", "application/x-font-ttf", "application/x-web-app-manifest+json", "application/xhtml+xml", "application/xml",
		"font/opentype", "image/svg+xml", "image/x-icon", "text/css", "text/javascript", "text/plain", "text/x-component",
	}
}

// DefaultStreamLogFormat is the predecessor's line for TCP and UDP sessions.
const DefaultStreamLogFormat = `[$remote_addr] [$time_local] $protocol $status $bytes_sent $bytes_received $session_time`

// tune sets the defaults of what this file is about.
func (s *Settings) tune() {
	s.Compression = Compression{
		GzipLevel: 1, GzipMinLength: 256, GzipTypes: gzipTypes(), BrotliLevel: 4, BrotliMinLength: 20, BrotliTypes: brotliTypes(),
	}
	s.Connections = ClientLimits{
		KeepAlive: 75 * time.Second, KeepAliveRequests: 1000, HeaderTimeout: 60 * time.Second, BodyTimeout: 60 * time.Second,
		HeaderBuffer: 1 << 10, LargeHeaders: 4, LargeHeaderSize: 8 << 10, Streams: 128, DefaultType: "text/html",
	}
	s.Upstream = Upstream{KeepaliveRequests: 10000, KeepaliveTime: time.Hour, KeepaliveTimeout: 60 * time.Second}
	s.Worker = Worker{
		MultiAccept: true, AIOWrite: true,
		Hashes: Hashes{ServerNameMax: 1024, MapBucket: 64, ProxyHeadersBucket: 64, ProxyHeadersMax: 512, VariablesBucket: 256, VariablesMax: 2048},
	}
	s.Listen = Listen{ReusePort: true}
	s.Logs = Logs{StreamFormat: DefaultStreamLogFormat, ErrorLevel: "notice"}
	s.StatusFrom = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128")}
}
