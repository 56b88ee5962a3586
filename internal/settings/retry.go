// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var retry = Group{
	Name: "retry", Doc: "When another endpoint is tried; annotations of the same names override these for their routes.",
	Keys: []Key{
		Parsed("proxy-next-upstream", "words", Spec{
			Default: "error timeout", Example: "error timeout http_502", Reload: true,
			Doc: "Conditions under which another endpoint is tried, or off.",
		}, value.RetryConditions, func(d *draft, v model.RetryCondition) { d.Route.Retries.On = v }),

		Int("proxy-next-upstream-timeout", Spec{
			Default: "0", Example: "10", Reload: true,
			Doc: "Seconds after the first try within which another may begin; 0 for no bound.",
		}, func(d *draft, v int) { d.Route.Retries.Within = time.Duration(min(v, value.MostSeconds)) * time.Second }),

		Int("proxy-next-upstream-tries", Spec{
			Default: "3", Example: "2", Reload: true,
			Doc: "How often an endpoint is asked at most, the first time included; 0 for as often as there are endpoints.",
		}, func(d *draft, v int) { d.Route.Retries.Tries = min(v, value.MostTries) }),

		Bool("retry-non-idempotent", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Tries POST, LOCK and PATCH again too, on every route that tries again.",
		}, func(d *draft, v bool) { d.RetryNonIdempotent = v }),
	},
}

func (d *draft) finishRetries() {
	if d.RetryNonIdempotent && d.Route.Retries.On != 0 {
		d.Route.Retries.On |= model.RetryNonIdempotent
	}
}
