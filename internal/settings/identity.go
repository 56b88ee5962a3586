// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/value"
)

var identity = Group{
	Name: "client-address",
	Doc: "Whom a request is from: the address that lists, limits and logs go by, and what backends are told. Headers and PROXY headers " +
		"count only from the networks of " +
		"proxy-real-ip-cidr; from others they are replaced by what the connection says. A value that does not parse closes every route, as " +
		"lists of addresses " +
		"would be compared with the wrong ones.",
	Keys: []Key{
		Bool("compute-full-forwarded-for", Spec{
			Default: "false", Example: "true", Reload: true, With: "use-forwarded-headers",
			Doc: "With use-forwarded-headers, backends get in X-Forwarded-For the list that the sender gave and the sender's own address, " +
				"instead of the client's address alone.",
		}, func(d *draft, v bool) { d.Client.FullForwardedFor = v }),

		Bool("enable-real-ip", Spec{
			Default: "false", Example: "true", Reload: true, Closes: true,
			Doc: "Takes the client's address from the header forwarded-for-header, and believes no other header.",
		}, func(d *draft, v bool) { d.Client.RealIP = v }),

		Parsed("forwarded-for-header", "header name", Spec{
			Default: "X-Forwarded-For", Example: "CF-Connecting-IP", Reload: true, Closes: true,
			Doc: "The header that lists the addresses which a request came by. The last one outside proxy-real-ip-cidr is the client. " +
				"Backends get the header as it came in X-Original-Forwarded-For.",
		}, parseClientHeader, func(d *draft, v string) { d.Client.For = v }),

		Parsed("forwarded-for-proxy-protocol-header", "header name", Spec{
			Default: "X-Forwarded-For-Proxy-Protocol", Example: "X-Client-Addresses", Reload: true, With: "use-forwarded-headers",
			Doc: "When there are both PROXY headers and a forwarded-for-header, the addresses of both are in this header on the way to the " +
				"backend; what clients send in it is replaced.",
		}, parseClientHeader, func(d *draft, v string) { d.Client.Late = v }),

		Parsed("forwarded-host-header", "header name", Spec{
			Default: "X-Forwarded-Host", Example: "X-Forwarded-Server", Reload: true,
			Doc: "The header that backends get, as it came, in X-Original-Forwarded-Host. The one that is believed is X-Forwarded-Host " +
				"whatever this says.",
		}, parseClientHeader, func(d *draft, v string) { d.Client.Host = v }),

		Parsed("proxy-protocol-header-timeout", "time with unit", Spec{
			Default: "5s", Example: "10s",
			Doc: "How long the listener of TLS passthrough waits for a PROXY header; other listeners wait for client-header-timeout.",
		}, parseDuration, func(d *draft, v time.Duration) { d.Client.HeaderTimeout = v }),

		Parsed("proxy-real-ip-cidr", "addresses and networks", Spec{
			Default: "0.0.0.0/0", Example: "10.0.0.0/8,2001:db8::/32", Reload: true, With: "use-forwarded-headers", Closes: true,
			Doc: "Whose word counts: senders with other addresses are clients themselves, whatever their headers say. The default believes " +
				"every sender with an IPv4 address, so it " +
				"should name the load balancers. Empty for nobody.",
		}, parseTrusted, func(d *draft, v []netip.Prefix) { d.Client.Trusted = v }),

		Bool("use-forwarded-headers", Spec{
			Default: "false", Example: "true", Reload: true, Closes: true,
			Doc: "Takes the client's address from forwarded-for-header, and believes X-Forwarded-Proto, X-Forwarded-Port and " +
				"X-Forwarded-Host. The host that is named so changes redirects and " +
				"what backends see, never the choice of the route.",
		}, func(d *draft, v bool) { d.Client.ForwardedHeaders = v }),

		Bool("use-proxy-protocol", Spec{
			Default: "false", Example: "true", Reload: true, Closes: true,
			Doc: "Every connection to the HTTP and HTTPS ports must begin with a PROXY header, version 1 or 2, which gives the client's " +
				"address and the port it came to; port 443 means HTTPS. " +
				"Connections without are closed.",
		}, func(d *draft, v bool) { d.Client.ProxyProtocol = v }),
	},
}

// parseTrusted is value.Networks for a list that may be empty.
func parseTrusted(text string) ([]netip.Prefix, error) {
	if strings.Trim(text, " ,") == "" {
		return nil, nil
	}
	return value.Networks(strings.Join(parseList(text), ","))
}

// parseClientHeader reads the name of a header that clients send. "_" would be lost on the way in.
func parseClientHeader(text string) (string, error) {
	if text == "" || len(text) > 64 || !value.Only(text, value.IsLetterOrDigit, "-") || text[0] == '-' {
		return "", errors.New("is no name of a header: letters, digits and -")
	}
	return text, nil
}
