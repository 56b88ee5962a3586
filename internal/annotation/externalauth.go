// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// externalDraft is what the keys of external auth say.
type externalDraft struct {
	model.ExternalAuth
	declined bool // enable-global-auth is false
}

var externalAuth = Group{
	Name: "external-auth", finish: finishExternalAuth,
	Doc: "Asks another server about each request before the backend gets it. All keys but enable-global-auth need auth-url; the settings global-auth-* are the same for " +
		"all Ingresses that do not decline. A key that is wrong closes the route, as a request must not pass unasked.",
	Keys: []Key{
		Bool("auth-always-set-cookie", Spec{
			Scope: Route, Risk: Low, Default: "false", Example: "true", Closes: true,
			Doc:    "Copies Set-Cookie of the server's answer onto responses of every status. Otherwise only 200, 201, 204, 206, 301, 302, 303, 304, 307 and 308 get it.",
			Source: "RFC 6265", Differs: "A bad value closes the route; there it silently removed the whole authentication.",
		}, func(e *Effect, v bool) { e.external.AlwaysSetCookie = v }),

		Parsed("auth-cache-duration", "statuses and times", Spec{
			Scope: Route, Risk: Medium, Default: "200 202 401 5m", Example: "200 202 10m, 401 1m", Closes: true,
			Doc: "How long answers of which status are kept with auth-cache-key: statuses and then a time with unit ms, s, m, h, d, w, M or y, with commas between such lists. " +
				"Less than a second counts as one.",
			Source: "proxy_cache_valid of ngx_http_proxy_module, done in Lua", Differs: "A bad value closes the route; there some silently removed the whole authentication.",
		}, value.CacheTimes, func(e *Effect, v []model.CacheTime) { e.external.CacheFor = v }),

		Parsed("auth-cache-key", "text with variables", Spec{
			Scope: Route, Risk: Medium, Default: "none, answers are not kept", Example: "$remote_user$http_authorization",
			Doc: "Keeps the server's answers in the memory of this nginx, for the times of auth-cache-duration, by the text with its variables filled in. Answers are never shared between " +
				"hosts or Ingresses.",
			Source: "proxy_cache_key of ngx_http_proxy_module, done in Lua",
		}, value.TemplateOf("-"), func(e *Effect, v model.Template) { e.external.CacheKey = v }),

		Int("auth-keepalive", Spec{
			Scope: Route, Risk: Low, Default: "0", Example: "10",
			Doc:    "Connections to a server that speaks HTTP are always kept for further questions, as many as the setting upstream-keepalive-connections says, so the number has no effect.",
			Source: "ngx_http_upstream_module", Differs: "There a number above 0 turned keeping on, let only 200 count as success and switched auth-always-set-cookie off.",
		}, func(*Effect, int) {}),

		Int("auth-keepalive-requests", Spec{
			Scope: Route, Risk: Low, Default: "1000", Example: "100",
			Doc: "Has no effect: see auth-keepalive.", Source: "ngx_http_upstream_module", Differs: "See auth-keepalive.",
		}, func(*Effect, int) {}),

		Bool("auth-keepalive-share-vars", Spec{
			Scope: Route, Risk: Low, Default: "false", Example: "true",
			Doc: "Has no effect: question and request always share their variables, such as the request ID.", Source: "ngx_http_core_module",
			Differs: "There true was needed, with auth-keepalive.",
		}, func(*Effect, bool) {}),

		Int("auth-keepalive-timeout", Spec{
			Scope: Route, Risk: Low, Default: "60", Example: "30",
			Doc: "Has no effect: see auth-keepalive.", Source: "ngx_http_upstream_module", Differs: "See auth-keepalive.",
		}, func(*Effect, int) {}),

		Parsed("auth-method", "HTTP method", Spec{
			Scope: Route, Risk: Low, Default: "GET", Example: "HEAD", Closes: true,
			Doc:    "The method of the question. With it the question also has the headers X-Original-URI and X-Scheme.",
			Source: "RFC 9110 section 9",
		}, value.Method, func(e *Effect, v string) { e.external.Method = v }),

		Parsed("auth-proxy-set-headers", "ConfigMap", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "default/auth-headers", Closes: true,
			Doc: "Each key of the ConfigMap is a header of the question, its value the header's. A bare name is of the Ingress's namespace, another namespace needs the setting " +
				"allow-cross-namespace-resources.",
			Source: "RFC 9110", Differs: "A bare name works, a changed ConfigMap counts at once, and values are headers' values, not nginx text.",
		}, present, func(*Effect, string) {}),

		Parsed("auth-request-redirect", "text", Spec{
			Scope: Route, Risk: Medium, Default: "the request's URI", Example: "/welcome", Closes: true,
			Doc:    "The header X-Auth-Request-Redirect of the question.",
			Source: "RFC 9110", Differs: "A bad value closes the route; there it silently removed the whole authentication.",
		}, value.PlainURI, func(e *Effect, v string) { e.external.RequestRedirect = v }),

		Parsed("auth-response-headers", "header names", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "X-Auth-User, X-Auth-Groups", Closes: true,
			Doc:    "These headers of the server's answer are set on the request to the backend. Whatever the client sent under these names is removed.",
			Source: "RFC 9110",
		}, value.HeaderNames, func(e *Effect, v []string) { e.external.ResponseHeaders = v }),

		Parsed("auth-signin", "URL or path with variables", Spec{
			Scope: Route, Risk: High, Default: "none, 401 is answered", Example: "https://$host/oauth2/start?rd=$escaped_request_uri",
			Doc: "Instead of 401 the client is redirected (302) there. The original URL is added as the query parameter of auth-signin-redirect-param, unless the URL has it. " +
				"Set-Cookie of the server's answer goes along. Also the 401 of a missing login redirects.",
			Source: "RFC 9110 section 15.4",
		}, value.SignIn, func(e *Effect, v model.Template) { e.external.SignIn = v }),

		Parsed("auth-signin-redirect-param", "parameter name", Spec{
			Scope: Route, Risk: Medium, Default: "rd", Example: "next",
			Doc:    "The query parameter that auth-signin adds.",
			Source: "RFC 3986 section 3.4",
		}, value.QueryName, func(e *Effect, v string) { e.external.SignInParam = v }),

		Parsed("auth-url", "URL with variables", Spec{
			Scope: Route, Risk: High, Refused: true, Default: "none", Setting: "global-auth-url", Example: "http://auth.default.svc.cluster.local/verify", Closes: true,
			Doc: "The server is asked there, with the request's headers but without its body. 2xx lets the request pass; 401, with its WWW-Authenticate, and 403 are answered to the client; anything else is 500. " +
				"The question has the headers X-Original-URL, X-Original-Method, X-Real-IP, X-Forwarded-For, X-Request-ID, X-Sent-From and X-Auth-Request-Redirect. " +
				"The host is a name, looked up by the controller, or an address; $host alone stands for this proxy. Local addresses are refused. The path may have variables.",
			Source: "ngx_http_auth_request_module", Shape: "one for all routes that ask",
			Differs: "$host is answered by this proxy itself, without a detour over DNS; other variables in the host close the route, as do local addresses.",
		}, value.URL, func(e *Effect, v model.URL) { e.external.URL = v }),

		Bool("enable-global-auth", Spec{
			Scope: Route, Risk: Low, Default: "true", Example: "false",
			Doc:    "false leaves the routes out of the setting global-auth-url.",
			Source: "Fairway",
		}, func(e *Effect, v bool) { e.external.declined = !v }),
	},
}

// finishExternalAuth makes the policy of what the keys say.
func finishExternalAuth(p *parser) {
	d := p.effect.external
	if d.declined && !p.has("auth-url") {
		p.effect.Policy.ExternalAuth = nil
	}
	if !p.has("auth-url") {
		p.without("auth-url", "auth-always-set-cookie", "auth-cache-duration", "auth-cache-key", "auth-method", "auth-proxy-set-headers", "auth-request-redirect",
			"auth-response-headers", "auth-signin", "auth-signin-redirect-param", "auth-snippet")
		return
	}
	if d.URL == (model.URL{}) {
		p.effect.Policy.ExternalAuth = nil // the routes are closed
		return
	}
	auth := d.ExternalAuth
	if auth.SignInParam == "" {
		auth.SignInParam = "rd"
	}
	if auth.CacheKey != "" && auth.CacheFor == nil {
		auth.CacheFor, _ = value.CacheTimes("200 202 401 5m")
	}
	p.effect.Policy.ExternalAuth = &auth
	if p.has("auth-proxy-set-headers") {
		p.lookup("ConfigMap", "auth-proxy-set-headers", false, func(e *Effect, data map[string][]byte) error {
			headers, err := value.Headers(data)
			if err != nil {
				return err
			}
			// Others may hold the policy already.
			complete := *e.Policy.ExternalAuth
			complete.RequestHeaders = headers
			e.Policy.ExternalAuth = &complete
			return nil
		})
	}
}

// present takes any text: what it names is looked up in the group's finish.
func present(text string) (string, error) { return text, nil }
