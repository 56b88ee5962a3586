// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var response = Group{
	Name: "response", Doc: "Changes the headers of responses; but for the first, annotations of the same names override these for their routes.",
	Keys: []Key{
		Parsed("global-allowed-response-headers", "header names", Spec{
			Default: none, Example: "X-Frame-Options,Referrer-Policy",
			Doc: "The headers that the annotation custom-headers may set. Upper and lower case are the same.",
		}, value.HeaderNames, func(d *draft, v []string) { d.AllowedResponseHeaders = v }),

		Parsed("proxy-cookie-domain", "off, or two domains", Spec{
			Default: "off", Example: "inner.example.com example.com", Reload: true,
			Doc: "Replaces the Domain of the backend's cookies.",
		}, value.CookieDomain, func(d *draft, v *model.Replacement) { d.Route.CookieDomain = v }),

		Parsed("proxy-cookie-path", "off, or two paths", Spec{
			Default: "off", Example: "/inner/ /", Reload: true,
			Doc: "Replaces the beginning of the Path of the backend's cookies.",
		}, value.CookiePath, func(d *draft, v *model.Replacement) { d.Route.CookiePath = v }),

		Parsed("proxy-redirect-from", "beginning of a URL, off or default", Spec{
			Default: "off", Example: "http://inner.example.com/", Reload: true, With: "proxy-redirect-to",
			Doc: "Where Location and Refresh of the backend begin with this, proxy-redirect-to comes in its place. default is the same as off.",
		}, value.LocationPart, func(d *draft, v string) { d.RedirectFrom = v }),

		Parsed("proxy-redirect-to", "beginning of a URL, or off", Spec{
			Default: "off", Example: "https://example.com/", Reload: true, With: "proxy-redirect-from",
			Doc: "What comes in place of proxy-redirect-from; off changes nothing.",
		}, value.LocationPart, func(d *draft, v string) { d.RedirectTo = v }),
	},
}

func (d *draft) finishResponse() {
	d.Route.Location = model.NewReplacement(d.RedirectFrom, d.RedirectTo)
}
