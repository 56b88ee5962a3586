// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

var redirect = Group{
	Name: "redirect", Doc: "Sends clients from HTTP to HTTPS.",
	Keys: []Key{
		Bool("force-ssl-redirect", Spec{
			Scope: Route, Risk: Medium, Default: "false", Setting: "force-ssl-redirect", Example: "true",
			Doc:    "Like ssl-redirect, but also for hosts without a certificate. The setting no-tls-redirect-locations still exempts.",
			Source: "RFC 9110 section 15.4",
		}, func(e *Effect, v bool) { e.ForceHTTPSRedirect = v }),

		Bool("preserve-trailing-slash", Spec{
			Scope: Route, Risk: Medium, Default: "false", Setting: "preserve-trailing-slash", Example: "true",
			Doc:    "Keeps the last / of the URI in the redirect to HTTPS; otherwise one is removed.",
			Source: "RFC 9110 section 15.4",
		}, func(e *Effect, v bool) { e.Policy.KeepTrailingSlash = v }),

		Bool("ssl-redirect", Spec{
			Scope: Route, Risk: Low, Default: "true", Setting: "ssl-redirect", Example: "false",
			Doc: "Plain-HTTP requests are redirected to HTTPS, with the status of the setting http-redirect-code, when an Ingress with a rule for the " +
				"host has a TLS section. Paths that begin with an entry of the setting no-tls-redirect-locations are exempt.",
			Source: "RFC 9110 section 15.4",
		}, func(e *Effect, v bool) { e.Policy.HTTPSRedirect = v }),
	},
}
