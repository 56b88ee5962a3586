// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

var redirect = Group{
	Name: "redirect", Doc: "How redirects look.",
	Keys: []Key{
		Bool("force-ssl-redirect", Spec{
			Default: "false", Example: "true",
			Doc: "Default of the annotation: redirects to HTTPS also where the host has no certificate.",
		}, func(d *draft, v bool) { d.ForceHTTPSRedirect = v }),

		Enum("http-redirect-code", Spec{
			Default: "308", Example: "301",
			Doc: "The status of redirects to HTTPS and of from-to-www-redirect.",
		}, []string{"301", "302", "307", "308"}, []int{301, 302, 307, 308}, func(d *draft, v int) { d.HTTPSRedirectCode = v }),

		Parsed("no-tls-redirect-locations", "list of beginnings of paths", Spec{
			Default: "/.well-known/acme-challenge", Example: "/.well-known/acme-challenge,/health",
			Doc: "Rules whose path, as written in the Ingress, begins with one of these are never redirected to HTTPS, whatever annotations say.",
		}, parsePaths, func(d *draft, v []string) { d.NoHTTPSRedirect = v }),

		Bool("preserve-trailing-slash", Spec{
			Default: "false", Example: "true",
			Doc: "Default of the annotation: keeps the last / of the URI in the redirect to HTTPS.",
		}, func(d *draft, v bool) { d.Route.KeepTrailingSlash = v }),

		Bool("relative-redirects", Spec{
			Default: "false", Example: "true",
			Doc: "Default of the annotation: redirects to a path have no scheme and host.",
		}, func(d *draft, v bool) { d.Route.RelativeRedirects = v }),

		Bool("ssl-redirect", Spec{
			Default: "true", Example: "false",
			Doc: "Default of the annotation: redirects to HTTPS where the host has a certificate.",
		}, func(d *draft, v bool) { d.Route.HTTPSRedirect = v }),

		Bool("use-port-in-redirects", Spec{
			Default: "false", Example: "true",
			Doc: "Default of the annotation: redirects to HTTPS name its port, and redirects to a path that of the request.",
		}, func(d *draft, v bool) { d.Route.PortInRedirects = v }),
	},
}
