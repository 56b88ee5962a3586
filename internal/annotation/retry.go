// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var retry = Group{
	Name:   "retry",
	Doc:    "When another endpoint is tried. For GRPC, GRPCS and FCGI only the number of tries counts; they try again after errors and timeouts.",
	finish: (*parser).settleRetries,
	Keys: []Key{
		Parsed("proxy-next-upstream", "words", Spec{
			Scope: Route, Risk: Medium, Default: "error timeout", Setting: "proxy-next-upstream", Example: "error timeout http_503",
			Doc: "Conditions under which another endpoint is tried: error, timeout, invalid_header, http_500, http_502, http_503, http_504, http_403, http_404, http_429; " +
				"off for none. POST, LOCK and PATCH are only tried again with non_idempotent, which the setting retry-non-idempotent adds everywhere.",
			Source: "proxy_next_upstream of " + proxyModule, Shape: "Each new set of conditions is a shape of its own.",
		}, value.RetryConditions, func(e *Effect, v model.RetryCondition) { e.Policy.Retries.On = v }),

		Int("proxy-next-upstream-timeout", Spec{
			Scope: Route, Risk: Low, Default: "0", Setting: "proxy-next-upstream-timeout", Example: "10",
			Doc:    "Seconds after the first try within which another may begin; 0 for no bound. Above 24 days counts as 24 days.",
			Source: "proxy_next_upstream_timeout of " + proxyModule, Shape: "Each new number is a shape of its own.",
		}, func(e *Effect, v int) {
			e.Policy.Retries.Within = time.Duration(min(v, value.MostSeconds)) * time.Second
		}),

		Int("proxy-next-upstream-tries", Spec{
			Scope: Route, Risk: Low, Default: "3", Setting: "proxy-next-upstream-tries", Example: "2",
			Doc:    "How often an endpoint is asked at most, the first time included; 0 for as often as there are endpoints, but no less than the setting says.",
			Source: "proxy_next_upstream_tries of " + proxyModule + "; ngx.balancer, set_more_tries", Shape: "Each number below that of the setting is a shape of its own.",
			Differs: "Counts for GRPC, GRPCS and FCGI too, and 0 is not without end.",
		}, func(e *Effect, v int) { e.Policy.Retries.Tries = min(v, value.MostTries) }),
	},
}

func (p *parser) settleRetries() {
	if on := &p.effect.Policy.Retries.On; *on != 0 && p.settings.RetryNonIdempotent {
		*on |= model.RetryNonIdempotent
	}
}
