// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"
	"text/template"

	"github.com/fairway-ingress/fairway/internal/model"
)

// The client's address is found by nginx' realip module before any Lua runs. There is one exception: with a PROXY header and a header of
// addresses, which of them counts depends on both. Then location / puts both into one header, realip looks at that afterwards, and the request
// is routed a phase later.

//go:embed client.tmpl
var clientText string

var clientFuncs = template.FuncMap{
	"late":         late,
	"realIPHeader": realIPHeader,
	"sender":       senderVariable,
	"variable":     func(header string) string { return strings.ReplaceAll(strings.ToLower(header), "-", "_") },
	"request":      requestWords,
	"listen":       listenOptions,
	"ownLoopback":  func() string { return ownLoopback },
	"luaVariables": luaVariables,
	"hasTicketKey": func(t model.TLS) bool { return t.TicketKey.Reveal() != "" },
	"dhParams":     dhParamsPath,
	"selfAddress":  Place.selfAddress,
	"secureClient": secureClient,
	"tlsSocket":    func() string { return TLSSocket },
}

// secureClient is what counts for requests over TLS: package l4 begins their connections with a PROXY header of its own.
func secureClient(s model.Settings) model.Client {
	c := s.Client
	c.ProxyProtocol = c.ProxyProtocol || s.Passthrough
	return c
}

// late tells whether the client's address is only known after the first phase.
func late(c model.Client) bool { return c.ProxyProtocol && c.BelievesFor() }

func realIPHeader(c model.Client) string {
	switch {
	case late(c):
		return c.Late
	case c.ProxyProtocol:
		return "proxy_protocol"
	}
	return c.For
}

// senderVariable holds who sent the request, be it the client or a proxy before us.
func senderVariable(s model.Settings) string {
	if s.Client.ProxyProtocol || s.Passthrough {
		return "$fairway_sender"
	}
	return "$realip_remote_addr"
}

// request is in nginx' words what a request is said to be: by constants where that is known, as they cost nothing.
type request struct {
	Port, Scheme, Host, For, OriginalFor, OriginalHost string
	EarlyData                                          bool
	Client                                             model.Client
}

// requestWords gives the words for requests to a port.
func requestWords(s model.Settings, port int, scheme string) request {
	c := s.Client
	r := request{
		Port: fmt.Sprint(port), Scheme: scheme, Host: "$http_host", For: "$remote_addr",
		OriginalFor: headerVariable(c.For), OriginalHost: headerVariable(c.Host), EarlyData: s.TLS.EarlyData, Client: c,
	}
	if scheme == "https" {
		r.Client = secureClient(s)
	}
	if c.ProxyProtocol || c.ForwardedHeaders {
		r.Port, r.Scheme = "$pass_port", "$pass_access_scheme"
	}
	if c.ForwardedHeaders {
		r.Host = "$best_http_host"
		if c.FullForwardedFor {
			r.For = "$fairway_forwarded_for"
		}
	}
	return r
}

func headerVariable(name string) string {
	return "$http_" + strings.ReplaceAll(strings.ToLower(name), "-", "_")
}

// luaVariables gives, as the members of a Lua table, the names of the variables by which Lua learns what a request is said to be: those of nginx
// itself unless somebody else is believed.
func luaVariables(s model.Settings) string {
	r := requestWords(s, 0, "$scheme")
	if !strings.HasPrefix(r.Port, "$") {
		r.Port = "$server_port"
	}
	return fmt.Sprintf(" scheme = %s, host = %s, port = %s ", luaQuote(r.Scheme[1:]), luaQuote(r.Host[1:]), luaQuote(r.Port[1:]))
}

// ownLoopback is where nginx reaches its own listeners while those for clients want a PROXY header, which nginx cannot send.
const ownLoopback = "127.0.0.2"

func (p Place) selfAddress(s model.Settings) string {
	if s.Client.ProxyProtocol {
		return ownLoopback
	}
	return ownAddress(s, p)
}

// listenOptions adds to the options of a listener what the settings say of it.
func listenOptions(s model.Settings, options string) string {
	if s.Client.ProxyProtocol {
		return options + " proxy_protocol"
	}
	return options
}

// dhParamsPath is where the parameters of the key exchange are; they are public, and named by their content. It is empty without.
func dhParamsPath(t model.TLS) string {
	if t.DHParams == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(t.DHParams))
	return TrustDir + "/dh-" + hex.EncodeToString(sum[:8]) + ".pem"
}
