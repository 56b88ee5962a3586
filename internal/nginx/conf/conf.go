// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package conf makes nginx.conf. In goes the set of shapes, the admin's settings and where things are on this machine; out come bytes,
// the same for the same input. No text of a tenant can get in: the only thing that depends on Ingresses is the set of
// shapes, and a [Shape] has no text.
//
// One request passes these places of the configuration (Lua modules are in package nginx/lua):
//
//	init_by_lua              init.master      loads the state before any worker accepts
//	init_worker_by_lua       init.worker      seeds the random numbers
//	ssl_certificate_by_lua   certificate      the certificates of the server name
//	log_by_lua               traffic.record   counts the request, when requests are counted; exit_worker_by_lua delivers the rest
//	                         inflight.finish  lets go of the endpoint, when requests in flight are counted
//	                         outlier.observe  tells how the request went, when a backend ejects endpoints
//	location /               route.handle     the entry location: routes, answers, or goes on with the default shape
//	location @SHAPE          -                the same proxying with the directives of the shape
//	upstream fairway_*       balancer         one per protocol, so that kept connections are never shared between them
//
// Nothing here touches the world: files, processes and sockets are those of packages nginx/process and nginx/push.
package conf

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Place says where the files, ports and sockets of one nginx are, and what that nginx can do. All of it is the controller's own.
type Place struct {
	Dir         string // runtime directory; absolute
	ModulesDir  string
	Address     string // "" for all addresses
	IPv6        bool   // whether "all addresses" includes IPv6
	HTTPPort    int
	HTTPSPort   int
	User        string // of the workers; "" leaves the user of the master
	Group       string // of the workers, where User is set
	OpenFiles   int    // limit of file descriptors per worker; 0 leaves it
	HTTP2OnPort bool   // nginx older than 1.25.1: HTTP/2 belongs to the listen directive and excludes HTTP/1.1 on a plain-text port
	HealthPath  string // answered by the catch-all host
	// ModSecurity and CoreRules are files of rules: the recommended ones and OWASP's; "" where there are none.
	ModSecurity, CoreRules string
	// Brotli are the files of the modules for Brotli, GeoIP tells whether there is the one for GeoIP2.
	Brotli []string
	GeoIP  bool
}

// lacks tells whether what a shape asks of ModSecurity is not installed.
func (p Place) lacks(s Shape) bool {
	return p.ModSecurity == "" || s.WAF == 2 && p.CoreRules == ""
}

// The names of files in the runtime directory.
const (
	AdminSocket     = "admin/nginx.sock"
	TLSSocket       = "admin/tls.sock" // where package l4 hands over connections that are not passed through
	PIDFile         = "nginx.pid"
	LuaDir          = "lua"
	TempDir         = "tmp"
	TrustDir        = "trust"
	PlaceholderCert = "placeholder.crt"
	PlaceholderKey  = "placeholder.key"
)

// StatePath is where nginx finds the state memory file: file descriptor 3, inherited from the controller.
const StatePath = "/proc/self/fd/3"

// Config is everything that nginx.conf is made of.
type Config struct {
	Place    Place
	Settings model.Settings
	Shapes   Shapes
	// Servers are the hosts with raw configuration of their own, sorted by name; Streams is raw configuration of the stream block.
	Servers []Server
	Streams []model.Snippet
	// ZoneBytes is the size of the shared memory that holds the state.
	ZoneBytes int64
	// Traffic is what is counted of requests; nil for nothing.
	Traffic *Traffic
	// InFlight tells whether requests in flight are counted, for ways to balance that ask for it.
	InFlight bool
	// Outliers lets requests be observed, for backends that eject endpoints.
	Outliers bool
	// Template replaces the built-in one; nil for that.
	Template *Template
	// Databases are those for GeoIP, by their edition.
	Databases map[string]Database
	// Modules is a hash of the Lua modules, so that other modules are another configuration.
	Modules string
}

// Server is a host with raw configuration of its own, for which nginx needs a server.
type Server struct {
	Names   []string // of the host and its aliases
	Snippet model.Snippet
}

// ServersOf gives the servers that hosts need; the catch-all host has none of its own.
func ServersOf(hosts []*model.Host) []Server {
	var servers []Server
	for _, h := range hosts {
		if h.Snippet != "" && h.Name != model.CatchAll {
			servers = append(servers, Server{Names: append([]string{h.Name}, h.Aliases...), Snippet: h.Snippet})
		}
	}
	return servers
}

// Files gives the files that the configuration names, by their path in the runtime directory: certificates of authorities that sign
// backends, and parameters of key exchange.
func (c Config) Files() map[string][]byte {
	files := map[string][]byte{}
	for shape, parts := range c.Shapes {
		if shape.TLS != "" && parts.TLS.CA != "" {
			files[trustPath(shape)] = []byte(parts.TLS.CA)
		}
	}
	if path := dhParamsPath(c.Settings.TLS); path != "" {
		files[path] = []byte(c.Settings.TLS.DHParams)
	}
	return files
}

func trustPath(s Shape) string { return TrustDir + "/" + s.TLS + ".pem" }

//go:embed nginx.conf.tmpl
var text string

var tmpl = template.Must(template.New("nginx.conf").Funcs(template.FuncMap{
	"seconds": func(d time.Duration) string { return fmt.Sprintf("%ds", max(1, int(d.Seconds()))) },
	"quote":   quote,
	"lua":     luaQuote,
	"shapes":  func(s Shapes) []Shape { return s.Sorted() },
	"dict":    dict,
	"tlsOptions": func(s model.Settings, p Place) string {
		if s.HTTP2 && p.HTTP2OnPort {
			return " ssl http2"
		}
		return " ssl"
	},
	"module": func(p model.Protocol) string {
		return map[model.Protocol]string{model.HTTP: "proxy", model.HTTPS: "proxy", model.GRPC: "grpc", model.GRPCS: "grpc", model.FCGI: "fastcgi"}[p]
	},
	"lower": protocolWord,
	"scheme": func(p model.Protocol) string {
		return map[model.Protocol]string{model.HTTP: "http", model.HTTPS: "https", model.GRPC: "grpc", model.GRPCS: "grpcs"}[p]
	},
	"places":      places,
	"onOff":       func(n int64) string { return map[int64]string{1: "on", 2: "off"}[n] },
	"less":        func(n, by int64) int64 { return n - by },
	"retry":       retryWords,
	"retryNumber": func(n int64) string { return retryWords(model.RetryCondition(n - 1)) },
	"steady":      func(s Shapes, shape Shape) bool { return s.steady(shape) },
	"codes":       Shape.errorCodes,
	"trust":       trustPath,
	"usualParams": usualParams,
	"ordinals":    func(params []model.Param) []numbered { return numbers(params) },
	"pools":       Shapes.tlsPools,
	"constant":    func(t model.Template) bool { return !strings.Contains(string(t), "$") },
	"addresses":   addresses,
	"reusePort":   reusePort,
	"openFiles":   openFiles,
	"logPath":     func(path string) string { return cmp.Or(path, "/dev/stdout") },
	"pause":       func(d time.Duration) string { return fmt.Sprintf("%ds", int(d.Seconds())) },
	"words":       func(list []string) string { return strings.Join(list, " ") },
	"hiders":      func() []string { return []string{"proxy", "grpc", "fastcgi"} },
	"hostNames":   func(s Server) string { return strings.Join(s.Names, " ") },
	"lacks":       Place.lacks,
	"traffic":     Traffic.Lua,
	"measures":    func() string { return Measures },
	"waf":         func(s Shapes) bool { return s.any(func(s Shape) bool { return s.WAF > 0 }) },
	"slowLogins":  func(s Shapes) bool { return s.any(func(s Shape) bool { return s.SlowLogin > 0 }) },
	"buffers":     Shape.buffers,
	"writesFiles": writesFiles,
}).Funcs(clientFuncs).Parse(clientText + text))

// Render gives nginx.conf and its hash, which running workers report so that one can tell which configuration they have.
func (c Config) Render() (text []byte, hash string) {
	sum := sha256.Sum256([]byte(c.render("")))
	hash = hex.EncodeToString(sum[:8])
	return []byte(c.render(hash)), hash
}

func (c Config) render(hash string) string {
	if c.Template != nil {
		return c.Template.render(c.data(hash))
	}
	var out bytes.Buffer
	if err := tmpl.Execute(&out, c.data(hash)); err != nil {
		panic(fmt.Sprintf("nginx.conf template: %v", err))
	}
	return out.String()
}

// data is what templates get: see docs/template.md.
func (c Config) data(hash string) map[string]any {
	return map[string]any{
		"Place": c.Place, "Settings": c.Settings, "Shapes": c.Shapes, "ZoneBytes": c.ZoneBytes, "Hash": hash, "Modules": c.Modules,
		"Default": DefaultShape(c.Settings), "Plain": Shape{}, "NoParts": Parts{}, "Variables": c.variables(), "BodyLimit": c.Shapes.BodyLimit(), "LogDetails": c.logDetails(),
		"Traffic": c.Traffic, "InFlight": c.InFlight, "Outliers": c.Outliers, "Protocols": protocols, "Servers": c.Servers, "Streams": c.Streams, "Params": c.Shapes.params(), "ErrorCodes": c.Shapes.ErrorCodes(), "ReplacesLate": c.Shapes.replacesLate(DefaultShape(c.Settings)), "AuthSnippets": c.Shapes.authSnippets(),
		"HasStreams": len(c.Streams) > 0 || c.Settings.Raw.Stream != "", "Tables": c.tables(), "GeoIP": c.geoIP(), "AddsHeaders": len(c.Settings.Headers.Response) > 0,
		"StatePath": StatePath, "AdminSocket": AdminSocket, "PIDFile": PIDFile, "LuaDir": LuaDir, "TempDir": TempDir,
		"PlaceholderCert": PlaceholderCert, "PlaceholderKey": PlaceholderKey,
	}
}

// numbered is a FastCGI parameter with the number of the variable that holds its value.
type numbered struct {
	N    int
	Name string
}

func numbers(params []model.Param) []numbered {
	list := make([]numbered, len(params))
	for i, p := range params {
		list[i] = numbered{i + 1, p.Name}
	}
	return list
}

// retryWords gives the conditions of Shape.RetryOn, or of the settings, in nginx' words.
func retryWords(on model.RetryCondition) string {
	var words []string
	for i, word := range model.RetryConditions() {
		if on&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return "off"
	}
	return strings.Join(words, " ")
}

func (s Shapes) any(is func(Shape) bool) bool {
	for shape := range s {
		if is(shape) {
			return true
		}
	}
	return false
}

// authSnippets gives the raw configuration for questions to other servers, by its hash.
func (s Shapes) authSnippets() map[string]model.Snippet {
	snippets := map[string]model.Snippet{}
	for shape, parts := range s {
		if shape.AuthSnippet != "" {
			snippets[shape.AuthSnippet] = parts.AuthSnippet
		}
	}
	return snippets
}

// tlsPools gives one shape for each pool of connections to verified backends, sorted.
func (s Shapes) tlsPools() []Shape {
	var list []Shape
	seen := map[string]bool{}
	for _, shape := range s.Sorted() {
		pool := protocolWord(shape.Protocol) + "_" + shape.TLS
		if shape.TLS != "" && !seen[pool] {
			seen[pool] = true
			list = append(list, shape)
		}
	}
	return list
}

// steady tells whether all connections of a shape's pool are for one name, so that they can be kept.
func (s Shapes) steady(shape Shape) bool {
	return !strings.Contains(string(s[shape].TLS.Name), "$")
}

// variables are those that Lua fills besides the ones of the log: see the modules that set them.
func (c Config) variables() []string {
	list := []string{
		"fairway_policy", "fairway_limit_key", "fairway_rate_after", "fairway_client_certificate", "fairway_tls_name", "fairway_tls_certificate", "fairway_tls_key",
		"fairway_script", "fairway_transaction",
		"fairway_auth_method", "fairway_auth_name", "fairway_auth_host", "fairway_auth_original", "fairway_auth_scheme", "fairway_auth_redirect",
		"fairway_auth_target", "fairway_auth_backend", "fairway_auth_state", "fairway_auth_key", "fairway_auth_answer",
		"fairway_mirror_name", "fairway_mirror_host", "fairway_mirror_target", "fairway_mirror_backend",
	}
	for _, n := range c.Shapes.params() {
		list = append(list, fmt.Sprintf("fairway_param_%d", n))
	}
	return list
}

// places gives as many servers of an upstream as there may be tries; the balancer says where each goes.
func places(settings model.Settings) []string {
	list := make([]string, UpstreamTries(&settings.Route))
	for i := range list {
		list[i] = fmt.Sprintf("0.0.0.%d", i+1)
	}
	return list
}

// params is how many variables FastCGI parameters need at most.
func (s Shapes) params() []int {
	most := 0
	for _, parts := range s {
		most = max(most, len(parts.Params))
	}
	list := make([]int, most)
	for i := range list {
		list[i] = i + 1
	}
	return list
}

// logDetails tells whether the log line names one of the variables that Lua only fills on demand.
func (c Config) logDetails() bool {
	for _, name := range []string{"$namespace", "$ingress_name", "$service_name", "$service_port", "$location_path"} {
		if strings.Contains(c.Settings.LogFormat, name) {
			return true
		}
	}
	return false
}

// quote makes an nginx string that keeps variables alive, for the admin's log format and header values.
func quote(s string) string {
	return `'` + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + `'`
}

// luaQuote makes a Lua string of a path or name that the controller made. It stands in a *_by_lua_block, where nginx counts braces.
func luaQuote(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/_.-", c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, `\%03d`, c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// dict makes a map of its arguments, for templates that take several.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}
