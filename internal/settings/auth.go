// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var auth = Group{
	Name: "auth",
	Doc: "External auth of every route that has no auth-url of its own and does not decline by enable-global-auth. A value that does not parse closes every route, as requests " +
		"must not pass unasked.",
	Keys: []Key{
		Bool("global-auth-always-set-cookie", Spec{
			Default: "false", Example: "true", Closes: true, Doc: "Like the annotation auth-always-set-cookie.",
		}, func(d *draft, v bool) { d.auth.AlwaysSetCookie = v }),

		Parsed("global-auth-cache-duration", "statuses and times", Spec{
			Default: none, Example: "200 10m", Closes: true, Doc: "Like the annotation auth-cache-duration; without it 200 202 401 5m.",
		}, value.CacheTimes, func(d *draft, v []model.CacheTime) { d.auth.CacheFor = v }),

		Parsed("global-auth-cache-key", "text with variables", Spec{
			Default: none, Example: "$http_authorization", Closes: true, Doc: "Like the annotation auth-cache-key.",
		}, value.TemplateOf("-"), func(d *draft, v model.Template) { d.auth.CacheKey = v }),

		Parsed("global-auth-method", "HTTP method", Spec{
			Default: none, Example: "HEAD", Closes: true, Doc: "Like the annotation auth-method; without it GET.",
		}, value.Method, func(d *draft, v string) { d.auth.Method = v }),

		Parsed("global-auth-request-redirect", "text", Spec{
			Default: none, Example: "/welcome", Closes: true, Doc: "Like the annotation auth-request-redirect.",
		}, value.PlainURI, func(d *draft, v string) { d.auth.RequestRedirect = v }),

		Parsed("global-auth-response-headers", "header names", Spec{
			Default: none, Example: "X-Auth-User", Closes: true, Doc: "Like the annotation auth-response-headers.",
		}, value.HeaderNames, func(d *draft, v []string) { d.auth.ResponseHeaders = v }),

		Parsed("global-auth-signin", "URL or path with variables", Spec{
			Default: none, Example: "https://login.example.com/start", Closes: true, Doc: "Like the annotation auth-signin.",
		}, value.SignIn, func(d *draft, v model.Template) { d.auth.SignIn = v }),

		Parsed("global-auth-signin-redirect-param", "parameter name", Spec{
			Default: none, Example: "next", Closes: true, Doc: "Like the annotation auth-signin-redirect-param; without it rd.",
		}, value.QueryName, func(d *draft, v string) { d.auth.SignInParam = v }),

		Parsed("global-auth-url", "URL with variables", Spec{
			Default: none, Example: "http://auth.default.svc.cluster.local/verify", Closes: true, Reload: true,
			Doc: "Like the annotation auth-url, for all routes.",
		}, value.URL, func(d *draft, v model.URL) { d.auth.URL = v }),
	},
}

// finishAuth makes the global auth of what the keys say.
func (d *draft) finishAuth() {
	if d.auth.URL == (model.URL{}) {
		return
	}
	auth := d.auth
	if auth.SignInParam == "" {
		auth.SignInParam = "rd"
	}
	if auth.CacheKey != "" && auth.CacheFor == nil {
		auth.CacheFor, _ = value.CacheTimes("200 202 401 5m")
	}
	d.GlobalAuth = &auth
}
