// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

var tls = Group{
	Name: "tls", Doc: "TLS and HTTP/2 towards clients.",
	Keys: []Key{
		Bool("hsts", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Adds the Strict-Transport-Security header to responses over TLS, in place of the backend's.",
		}, func(d *draft, v bool) { d.hsts.on = v }),

		Bool("hsts-include-subdomains", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Adds includeSubDomains to that header.",
		}, func(d *draft, v bool) { d.hsts.subdomains = v }),

		Int("hsts-max-age", Spec{
			Default: "31536000", Example: "86400", Reload: true,
			Doc: "The max-age of that header, in seconds.",
		}, func(d *draft, v int) { d.hsts.maxAge = v }),

		Bool("hsts-preload", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Adds preload to that header.",
		}, func(d *draft, v bool) { d.hsts.preload = v }),

		Parsed("ssl-ciphers", "OpenSSL cipher list", Spec{
			Default: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:" +
				"ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256",
			Example: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256", Reload: true,
			Doc: "The ciphers of TLS 1.2 for all hosts.",
		}, parseCiphers, func(d *draft, v string) { d.TLSCiphers = v }),

		Parsed("ssl-protocols", "TLSv1.2, TLSv1.3, … separated by blanks", Spec{
			Default: "TLSv1.2 TLSv1.3", Example: "TLSv1.3", Reload: true,
			Doc: "The TLS versions that are accepted.",
		}, parseProtocols, func(d *draft, v string) { d.TLSProtocols = v }),

		Bool("use-http2", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Offers HTTP/2 to clients.",
		}, func(d *draft, v bool) { d.HTTP2 = v }),
	},
}
