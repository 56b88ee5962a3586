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
//	location /               route.handle     the entry location: routes, answers, or goes on with the default shape
//	location @SHAPE          -                the same proxying with the directives of the shape
//	upstream fairway_*       balancer         one per protocol, so that kept connections are never shared between them
//
// Nothing here touches the world: files, processes and sockets are those of packages nginx/process and nginx/push.
package conf

import (
	"bytes"
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
	OpenFiles   int    // limit of file descriptors per worker; 0 leaves it
	HTTP2OnPort bool   // nginx older than 1.25.1: HTTP/2 belongs to the listen directive and excludes HTTP/1.1 on a plain-text port
	HealthPath  string // answered by the catch-all host
}

// The names of files in the runtime directory.
const (
	AdminSocket     = "admin/nginx.sock"
	PIDFile         = "nginx.pid"
	LuaDir          = "lua"
	TempDir         = "tmp"
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
	// ZoneBytes is the size of the shared memory that holds the state.
	ZoneBytes int64
	// Modules is a hash of the Lua modules, so that other modules are another configuration.
	Modules string
}

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
	"grpc":  func(p model.Protocol) bool { return p == model.GRPC || p == model.GRPCS },
	"lower": func(s fmt.Stringer) string { return strings.ToLower(s.String()) },
	"scheme": func(p model.Protocol) string {
		return map[model.Protocol]string{model.HTTP: "http", model.HTTPS: "https", model.GRPC: "grpc", model.GRPCS: "grpcs"}[p]
	},
}).Parse(text))

// Render gives nginx.conf and its hash, which running workers report so that one can tell which configuration they have.
func (c Config) Render() (text []byte, hash string) {
	sum := sha256.Sum256([]byte(c.render("")))
	hash = hex.EncodeToString(sum[:8])
	return []byte(c.render(hash)), hash
}

func (c Config) render(hash string) string {
	var out bytes.Buffer
	err := tmpl.Execute(&out, map[string]any{
		"Place": c.Place, "Settings": c.Settings, "Shapes": c.Shapes, "ZoneBytes": c.ZoneBytes, "Hash": hash, "Modules": c.Modules,
		"Default": DefaultShape(c.Settings), "BodyLimit": c.Shapes.BodyLimit(), "LogDetails": c.logDetails(),
		"Protocols": protocols,
		"StatePath": StatePath, "AdminSocket": AdminSocket, "PIDFile": PIDFile, "LuaDir": LuaDir, "TempDir": TempDir,
		"PlaceholderCert": PlaceholderCert, "PlaceholderKey": PlaceholderKey,
	})
	if err != nil {
		panic(fmt.Sprintf("nginx.conf template: %v", err))
	}
	return out.String()
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
