// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import "github.com/fairway-ingress/fairway/internal/model"

var backend = Group{
	Name: "backend", Doc: "Says how to talk to the Service.",
	Keys: []Key{
		Enum("backend-protocol", Spec{
			Scope: Route, Risk: Low, Default: "HTTP", Example: "GRPC",
			Doc: "The protocol towards the endpoints. HTTPS and GRPCS do not verify the certificate. Upper and lower case are the same. " +
				"AUTO_HTTP and FCGI are not supported yet: they close the route (503).",
			Source: "ngx_http_proxy_module, ngx_http_grpc_module",
		}, []Option[model.Protocol]{
			{Text: "HTTP", Value: model.HTTP},
			{Text: "HTTPS", Value: model.HTTPS},
			{Text: "GRPC", Value: model.GRPC},
			{Text: "GRPCS", Value: model.GRPCS},
			{Text: "AUTO_HTTP", NotYet: true},
			{Text: "FCGI", NotYet: true},
		}, func(e *Effect, v model.Protocol) { e.Policy.Protocol = v }),

		Parsed("upstream-vhost", "host name, with an optional port", Spec{
			Scope: Route, Risk: Low, Default: "the client's Host", Example: "internal.example.com", Closes: true,
			Doc:    "The Host header that the backend sees. nginx variables are refused: they close the route (503).",
			Source: "RFC 9110 section 7.2",
		}, parseHostPort, func(e *Effect, v string) { e.Policy.Host = model.Template(v) }),
	},
}
