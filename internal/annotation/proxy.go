// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"time"

	"github.com/fairway-ingress/fairway/internal/value"
)

var proxy = Group{
	Name: "proxy", Doc: "Bounds requests and the wait for the backend, and says how it is spoken to.",
	Keys: []Key{
		Enum("connection-proxy-header", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "what the request needs", Example: "close",
			Doc:    "The Connection header that the backend sees, which rules out WebSockets. Without it that is upgrade for a request that asks for an upgrade, else none.",
			Source: "RFC 9110 section 7.6.1",
		}, []Option[string]{{Text: "close", Value: "close"}, {Text: "keep-alive", Value: "keep-alive"}}, func(e *Effect, v string) { e.Policy.Connection = v }),

		Size("proxy-body-size", Spec{
			Scope: Route, Risk: Medium, Default: "1m", Setting: "proxy-body-size", Example: "8m",
			Doc:    "The largest request body; a larger one is answered with 413. 0 means no limit. Units are k, m and g; no unit or b means bytes.",
			Source: "client_max_body_size of ngx_http_core_module",
		}, func(e *Effect, v int64) { e.Policy.BodyLimit = v }),

		Seconds("proxy-connect-timeout", Spec{
			Scope: Route, Risk: Low, Max: value.MostSeconds, Default: "5", Setting: "proxy-connect-timeout", Example: "10",
			Doc:    "How long the connection to an endpoint may take; then the next endpoint is tried or 504 is answered.",
			Source: "proxy_connect_timeout of ngx_http_proxy_module",
		}, func(e *Effect, v time.Duration) { e.Policy.Timeouts.Connect = v }),

		Parsed("proxy-http-version", "1.0 or 1.1", Spec{
			Scope: Route, Risk: Low, Default: "1.1", Setting: "proxy-http-version", Example: "1.0",
			Doc:    "The version of HTTP towards the endpoints, where they speak HTTP or HTTPS.",
			Source: "proxy_http_version of " + proxyModule, Shape: "One shape for all routes with the other version.",
		}, value.Version10, func(e *Effect, v bool) { e.Policy.HTTPVersion10 = v }),

		Seconds("proxy-read-timeout", Spec{
			Scope: Route, Risk: Low, Max: value.MostSeconds, Default: "60", Setting: "proxy-read-timeout", Example: "3600",
			Doc:    "The longest pause between two reads from the endpoint, which also bounds idle WebSockets. Above 24 days counts as 24 days.",
			Source: "proxy_read_timeout of ngx_http_proxy_module",
		}, func(e *Effect, v time.Duration) { e.Policy.Timeouts.Read = v }),

		Seconds("proxy-send-timeout", Spec{
			Scope: Route, Risk: Low, Max: value.MostSeconds, Default: "60", Setting: "proxy-send-timeout", Example: "120",
			Doc:    "The longest pause between two writes to the endpoint. Above 24 days counts as 24 days.",
			Source: "proxy_send_timeout of ngx_http_proxy_module",
		}, func(e *Effect, v time.Duration) { e.Policy.Timeouts.Send = v }),
	},
}
