// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// errorsDraft is what the keys about errors say.
type errorsDraft struct {
	codes       []int
	passThrough bool // responses of the backend stay as they are
}

var errorPages = Group{
	Name: "errors", finish: finishErrors,
	Doc: "Replaces responses by those of another Service, and lets it stand in for a Service without endpoints.",
	Keys: []Key{
		Parsed("custom-http-errors", "statuses with commas between", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "none", Setting: "custom-http-errors", Example: "404,503",
			Doc: "Responses with these statuses, 400 to 599, of the backend or of Fairway itself, are replaced by what the Service of default-backend answers, or else the default " +
				"backend of the controller. It gets the method of the request, the path /, no body, and the headers X-Code (the status), X-Format (Accept of the client), " +
				"X-Original-URI, X-Namespace, X-Ingress-Name, X-Service-Name, X-Service-Port and X-Request-ID; the client gets its status and body. Statuses of GRPC, GRPCS and FCGI " +
				"backends are not replaced. If no such backend has an endpoint, the status stays. The list takes the place of that in the settings.",
			Source:  "error_page of ngx_http_core_module",
			Shape:   "A set of statuses that no route had before.",
			Differs: "The body of the request is not sent along, and without any backend to ask the status stays; there the body was sent, and the answer was then 404.",
		}, value.Statuses(400), func(e *Effect, v []int) { e.errors.codes = v }),

		Parsed("default-backend", "name of a Service", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "none", Example: "maintenance",
			Doc: "While the Service of the rule has no endpoint, the first port of this Service of the same namespace gets the requests, over plain HTTP, with their path and the headers " +
				"X-Code: 503, X-Format, X-Original-URI, X-Namespace, X-Ingress-Name, X-Service-Name, X-Service-Port and X-Request-ID. Controls of the route hold for these requests " +
				"too. It also answers for custom-http-errors. Without an endpoint of its own it has no effect.",
			Source:  "Fairway",
			Shape:   "Of a route that has another shape than the default one: the same over plain HTTP.",
			Differs: "What the Service answers instead of one without endpoints is not replaced once more by custom-http-errors.",
		}, value.ServiceName, func(e *Effect, v string) { e.FallbackService = v }),

		Bool("disable-proxy-intercept-errors", Spec{
			Scope: Route, Risk: Low, Default: "false", Setting: "disable-proxy-intercept-errors", Example: "true",
			Doc:     "With custom-http-errors, of the annotation or of the settings: leaves the responses of the backend as they are, and replaces only those of Fairway itself.",
			Source:  "proxy_intercept_errors of ngx_http_proxy_module",
			Differs: "true also counts where the settings have custom-http-errors; there it had no effect then.",
		}, func(e *Effect, v bool) { e.errors.passThrough = v }),
	},
}

// finishErrors makes the policy. The setting disable-proxy-intercept-errors only counts for the statuses of the settings.
func finishErrors(p *parser) {
	d := p.effect.errors
	policy := &p.effect.Policy
	switch {
	case d.codes != nil:
		policy.Errors = &model.Errors{Codes: d.codes, Intercept: !d.passThrough}
	case d.passThrough && policy.Errors != nil:
		policy.Errors = &model.Errors{Codes: policy.Errors.Codes}
	case d.passThrough && !p.has("custom-http-errors"):
		p.without("custom-http-errors", "disable-proxy-intercept-errors")
	}
}
