// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// redirects is where the source of most keys is said.
const redirects = "RFC 9110 section 15.4"

var redirect = Group{
	Name: "redirect", Doc: "Sends clients elsewhere. For one request: first app-root and from-to-www-redirect, then the answer to a CORS preflight, temporal-redirect, permanent-redirect, and the " +
		"redirect to HTTPS, all before limits and authentication.",
	Keys: []Key{
		Parsed("app-root", "path", Spec{
			Scope: Host, Risk: Medium, Default: "none", Example: "/app",
			Doc: "A request for / alone is redirected (302) to this path, on the whole host and also without a rule for /. The Location has the scheme of the connection and the Host " +
				"header as it was sent. Of several Ingresses of the host the oldest that has the key decides.",
			Source: redirects, Differs: "The oldest Ingress of the host decides, not the one with the longest path, and nginx variables are refused.",
		}, parseAppRoot, func(e *Effect, v string) { e.Host.AppRoot = v }),

		Bool("force-ssl-redirect", Spec{
			Scope: Route, Risk: Medium, Default: "false", Setting: "force-ssl-redirect", Example: "true",
			Doc:    "Like ssl-redirect, but also for hosts without a certificate. The setting no-tls-redirect-locations still exempts.",
			Source: redirects,
		}, func(e *Effect, v bool) { e.ForceHTTPSRedirect = v }),

		Bool("from-to-www-redirect", Spec{
			Scope: Host, Risk: Low, Refused: true, Default: "false", Example: "true",
			Doc: "The same name with www. in front, or without it, redirects every request to each host of the Ingress, with the status of the setting http-redirect-code. That name may not be a " +
				"host or an alias of any Ingress. Over TLS it shows the certificate of the host if that covers it, else the default one.",
			Source: redirects,
		}, func(e *Effect, v bool) { e.Host.WWW = v }),

		Parsed("permanent-redirect", "URL or path", Spec{
			Scope: Route, Risk: Medium, Refused: true, Default: "none", Example: "https://new.example.com/start",
			Doc: "Every request is answered with this Location and the status of permanent-redirect-code; the path of the request is not appended. A path gets the scheme and the host of " +
				"the request in front, see relative-redirects.",
			Source: redirects,
		}, parseRedirect, func(e *Effect, v string) { e.redirect.permanent.URL = v }),

		Parsed("permanent-redirect-code", "one of 301, 302, 303, 307, 308", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "301", Example: "308",
			Doc:    "The status of permanent-redirect.",
			Source: redirects, Differs: "Statuses that carry no Location are refused; there the URL was sent as text.",
		}, parseRedirectCode(301, 302, 303, 307, 308), func(e *Effect, v int) { e.redirect.permanent.Code = v }),

		Bool("preserve-trailing-slash", Spec{
			Scope: Route, Risk: Medium, Default: "false", Setting: "preserve-trailing-slash", Example: "true",
			Doc:    "Keeps the last / of the URI in the redirect to HTTPS; otherwise one is removed.",
			Source: redirects,
		}, func(e *Effect, v bool) { e.Policy.KeepTrailingSlash = v }),

		Bool("relative-redirects", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "false", Setting: "relative-redirects", Example: "true",
			Doc:    "Redirects to a path, that of permanent-redirect and those to a final slash, have no scheme and host in their Location. The redirect to HTTPS always does.",
			Source: "absolute_redirect of ngx_http_core_module, done in Lua",
		}, func(e *Effect, v bool) { e.Policy.RelativeRedirects = v }),

		Bool("ssl-redirect", Spec{
			Scope: Route, Risk: Low, Default: "true", Setting: "ssl-redirect", Example: "false",
			Doc: "Plain-HTTP requests are redirected to HTTPS, with the status of the setting http-redirect-code, when an Ingress with a rule for the " +
				"host has a TLS section. Paths that begin with an entry of the setting no-tls-redirect-locations are exempt.",
			Source: redirects,
		}, func(e *Effect, v bool) { e.Policy.HTTPSRedirect = v }),

		Parsed("temporal-redirect", "URL", Spec{
			Scope: Route, Risk: Medium, Refused: true, Default: "none", Example: "https://status.example.com/maintenance",
			Doc:    "Every request is answered with this Location and the status of temporal-redirect-code. It must begin with http:// or https://. Beside it permanent-redirect has no effect.",
			Source: redirects, Differs: "A value without http:// or https:// leaves the other keys of redirects in force.",
		}, parseTemporal, func(e *Effect, v string) { e.redirect.temporal.URL = v }),

		Parsed("temporal-redirect-code", "one of 301, 302, 303, 307", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "302", Example: "307",
			Doc:    "The status of temporal-redirect.",
			Source: redirects, Differs: "Statuses that carry no Location are refused; there the URL was sent as text.",
		}, parseRedirectCode(301, 302, 303, 307), func(e *Effect, v int) { e.redirect.temporal.Code = v }),

		Bool("use-port-in-redirects", Spec{
			Scope: Route, Risk: Low, Default: "false", Setting: "use-port-in-redirects", Example: "true",
			Doc:    "The redirect to HTTPS names the port on which nginx listens for HTTPS, and redirects to a path the one on which the request came, unless it is that of the scheme.",
			Source: "port_in_redirect of ngx_http_core_module, done in Lua",
		}, func(e *Effect, v bool) { e.Policy.PortInRedirects = v }),
	},
	finish: finishRedirect,
}

// redirectDraft is what the keys say of the one redirect of a route.
type redirectDraft struct{ temporal, permanent model.Redirect }

// parseRedirect reads where a redirect leads: a URL, or a path, of the characters that the predecessor takes.
func parseRedirect(text string) (string, error) {
	if text == "" || len(text) > 2048 || !value.Only(text, value.IsLetterOrDigit, "-._~/:,?&=") {
		return "", errors.New("has other characters than letters, digits and - . _ ~ / : , ? & =")
	}
	return text, nil
}

// parseTemporal is parseRedirect for a whole URL.
func parseTemporal(text string) (string, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if scheme = strings.ToLower(scheme); !found || rest == "" || scheme != "http" && scheme != "https" {
		return "", errors.New("is no URL that begins with http:// or https://")
	}
	return parseRedirect(text)
}

// parseAppRoot reads a path.
func parseAppRoot(text string) (string, error) {
	if !strings.HasPrefix(text, "/") || len(text) > 2048 || !value.Only(text, value.IsLetterOrDigit, "-._~/:") {
		return "", errors.New("is not a path of letters, digits, slashes and - . : ~ _")
	}
	return text, nil
}

// parseRedirectCode makes a parser of the statuses.
func parseRedirectCode(codes ...int) func(text string) (int, error) {
	return func(text string) (int, error) {
		v, err := strconv.Atoi(text)
		if err != nil || !slices.Contains(codes, v) {
			return 0, fmt.Errorf("is none of the statuses %s", strings.Trim(fmt.Sprint(codes), "[]"))
		}
		return v, nil
	}
}

func finishRedirect(p *parser) {
	if p.effect.Canary {
		return
	}
	temporal, permanent := p.effect.redirect.temporal, p.effect.redirect.permanent
	temporal.Code, permanent.Code = cmp.Or(temporal.Code, 302), cmp.Or(permanent.Code, 301)
	if !p.has("temporal-redirect") {
		p.without("temporal-redirect", "temporal-redirect-code")
	}
	if !p.has("permanent-redirect") {
		p.without("permanent-redirect", "permanent-redirect-code")
	}
	switch {
	case temporal.URL != "":
		if p.has("permanent-redirect") {
			p.problem("permanent-redirect", model.ReasonInvalidAnnotation, "has no effect beside temporal-redirect; remove one of them")
		}
		p.effect.Policy.Redirect = &temporal
	case permanent.URL != "":
		p.effect.Policy.Redirect = &permanent
	}
}
