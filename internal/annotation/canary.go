// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var canary = Group{
	Name: "canary", Doc: "Sends a share of the requests of other Ingresses' routes to another Service. An affinity cookie, header, cookie and weight decide in that order.",
	Keys: []Key{
		Bool("canary", Spec{
			Scope: Ingress, Risk: Low, Default: "false", Example: "true",
			Doc: "The Ingress makes no route of its own. Each of its paths joins the route of the same host, path and path type, whose other " +
				"annotations stay in force. Several canaries of a route are asked in the order of their age.",
			Source: "Fairway",
		}, func(e *Effect, v bool) { e.Canary = v }),

		Parsed("canary-by-cookie", "cookie name", Spec{
			Scope: Ingress, Risk: Medium, Default: "none", Example: "use_canary",
			Doc:    "The cookie takes a request by the value always, refuses it by never, and otherwise leaves it to the weight.",
			Source: "RFC 6265",
		}, value.Token, func(e *Effect, v string) { e.CanaryRule.Cookie = v }),

		Parsed("canary-by-header", "header name", Spec{
			Scope: Ingress, Risk: Medium, Default: "none", Example: "X-Canary",
			Doc:    "The header takes a request by the value always, refuses it by never, and otherwise leaves it to the cookie.",
			Source: "RFC 9110",
		}, value.Token, func(e *Effect, v string) { e.CanaryRule.Header = v }),

		Parsed("canary-by-header-pattern", "regular expression", Spec{
			Scope: Ingress, Risk: Medium, Default: "none", Example: "^(beta|staff)$",
			Doc: "With canary-by-header: a value in which the expression finds something takes the request; case matters. No effect beside " +
				"canary-by-header-value. 512 bytes, no look-around or back reference; otherwise the canary takes no request.",
			Source: "PCRE",
		}, parseHeaderPattern, func(e *Effect, v string) { e.CanaryRule.HeaderPattern = v }),

		Parsed("canary-by-header-value", "header value", Spec{
			Scope: Ingress, Risk: Medium, Default: "none", Example: "beta",
			Doc:    "With canary-by-header: exactly this value takes the request.",
			Source: "RFC 9110",
		}, value.HeaderValue, func(e *Effect, v string) { e.CanaryRule.HeaderValue = v }),

		Int("canary-weight", Spec{
			Scope: Ingress, Risk: Low, Default: "0", Example: "10",
			Doc:    "So many of canary-weight-total requests are taken by chance.",
			Source: "Fairway",
		}, func(e *Effect, v int) { e.CanaryRule.Weight = min(v, mostWeight) }),

		Int("canary-weight-total", Spec{
			Scope: Ingress, Risk: Low, Default: "100", Example: "1000",
			Doc:    "What canary-weight is a part of. Less than 100 counts as 100.",
			Source: "Fairway",
		}, func(e *Effect, v int) { e.CanaryRule.WeightTotal = min(max(v, 100), mostWeight) }),
	},
	finish: finishCanary,
}

// finishCanary reports keys that others make meaningless.
func finishCanary(p *parser) {
	if !p.effect.Canary {
		return
	}
	if !p.has("canary-by-header") {
		p.without("canary-by-header", "canary-by-header-pattern", "canary-by-header-value")
	} else if p.has("canary-by-header-value") && p.has("canary-by-header-pattern") {
		p.problem("canary-by-header-pattern", model.ReasonInvalidAnnotation, "has no effect beside canary-by-header-value; remove one of them")
	}
	if !p.has("canary-weight") {
		p.without("canary-weight", "canary-weight-total")
	}
}

// mostWeight keeps weights within what Lua's random numbers take.
const mostWeight = 1 << 30

// parseHeaderPattern is value.Pattern for a canary, which takes no request when it fails.
func parseHeaderPattern(text string) (string, error) {
	v, err := value.Pattern(text)
	if err != nil {
		return "", closingCanary{err}
	}
	return v, nil
}
