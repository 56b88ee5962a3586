// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"net/netip"
	"strconv"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

const (
	// mostConnections is the largest number that limit_conn takes.
	mostConnections = 65535
	// mostNumber keeps products of two numbers, and bytes made of kilobytes, within what Lua's numbers hold exactly.
	mostNumber = 1 << 26
)

var limit = Group{
	Name: "rate-limit",
	Doc: "Bounds the requests of each client, and the speed of responses. Counters belong to one controller pod; all paths of an Ingress share them, other Ingresses have their own. " +
		"A client is what the setting limit-conn-zone-variable says. Every limit must be satisfied, and a request that one refuses does not count for the others. " +
		"Limits come after redirects, and before address lists and authentication.",
	Keys: []Key{
		Parsed("limit-allowlist", "addresses and networks with commas between", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "none", Example: "10.0.0.0/8,2001:db8::/32", Alias: "limit-whitelist", Closes: true,
			Doc:    "Clients with these addresses are not counted or refused by limit-rps, limit-rpm and limit-connections. limit-rate still binds them.",
			Source: "RFC 4632, RFC 4291",
		}, value.Networks, func(e *Effect, v []netip.Prefix) { e.limit.exempt = v }),

		Int("limit-burst-multiplier", Spec{
			Scope: Route, Risk: Low, Default: "5", Example: "3",
			Doc:    "So many times limit-rps or limit-rpm may come at once beyond the rate, and are served without delay. No effect on limit-connections.",
			Source: "the burst of ngx_http_limit_req_module, done in Lua",
		}, func(e *Effect, v int) { e.limit.multiplier = &v }),

		Parsed("limit-connections", "number", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "0", Example: "20", Closes: true,
			Doc: "How many requests of a client may be in progress. Further ones are answered with the status of the setting limit-conn-status-code. " +
				"0 or less means no limit, and more than 65535 means 65535.",
			Source: "limit_conn of ngx_http_limit_conn_module", Shape: "one for each number",
		}, parseLimit(mostConnections), func(e *Effect, v int) { e.limit.connections = v }),

		Parsed("limit-rate", "kilobytes per second", Spec{
			Scope: Route, Risk: Low, Default: "0", Setting: "limit-rate", Example: "512",
			Doc: "How fast a response is sent to the client, in units of 1024 bytes per second. 0 or less means no bound. nginx bounds only what it buffers: " +
				"see proxy-buffering.",
			Source: "limit_rate of ngx_http_core_module",
		}, parseLimit(mostNumber), func(e *Effect, v int) { e.Policy.Bandwidth.Rate = int64(v) << 10 }),

		Parsed("limit-rate-after", "kilobytes", Spec{
			Scope: Route, Risk: Low, Default: "0", Setting: "limit-rate-after", Example: "1024",
			Doc:    "How much of a response, in units of 1024 bytes, is sent at full speed before limit-rate counts.",
			Source: "limit_rate_after of ngx_http_core_module",
		}, parseLimit(mostNumber), func(e *Effect, v int) { e.Policy.Bandwidth.After = int64(v) << 10 }),

		Parsed("limit-rpm", "requests per minute", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "0", Example: "300", Closes: true,
			Doc: "How many requests a client may make per minute. What comes beyond that and the burst, see limit-burst-multiplier, is answered with the status " +
				"of the setting limit-req-status-code. 0 or less means no limit.",
			Source: "ngx_http_limit_req_module, done in Lua",
		}, parseLimit(mostNumber), func(e *Effect, v int) { e.limit.perMinute = v }),

		Parsed("limit-rps", "requests per second", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "0", Example: "20", Closes: true,
			Doc:    "Like limit-rpm, per second.",
			Source: "ngx_http_limit_req_module, done in Lua",
		}, parseLimit(mostNumber), func(e *Effect, v int) { e.limit.perSecond = v }),
	},
	finish: finishLimit,
}

// limitDraft is what the keys say of one rate limit.
type limitDraft struct {
	perSecond, perMinute, connections int
	multiplier                        *int // nil for the default
	exempt                            []netip.Prefix
}

// parseLimit reads a whole number of at most most, to which larger ones are cut. What is below 0 is 0, no limit.
func parseLimit(most int) func(text string) (int, error) {
	return func(text string) (int, error) {
		v, err := strconv.Atoi(text)
		if err != nil {
			return 0, errors.New("is not a whole number")
		}
		return min(max(v, 0), most), nil
	}
}

func finishLimit(p *parser) {
	d := p.effect.limit
	if p.effect.Canary {
		return
	}
	if p.has("limit-rate") && p.effect.Policy.Bandwidth.Rate > 0 && !p.effect.Policy.Buffers.Response {
		p.problem("limit-rate", model.ReasonInvalidAnnotation, "without proxy-buffering nginx bounds no response; set that to on or remove this one")
	}
	if !p.has("limit-rps") && !p.has("limit-rpm") {
		p.without("limit-rps or limit-rpm", "limit-burst-multiplier")
		if !p.has("limit-connections") {
			p.without("limit-rps, limit-rpm or limit-connections", "limit-allowlist", "limit-whitelist")
		}
	}
	if d.perSecond == 0 && d.perMinute == 0 && d.connections == 0 {
		return
	}
	multiplier := 5
	if d.multiplier != nil {
		multiplier = min(*d.multiplier, mostNumber)
	}
	p.effect.Policy.RateLimit = &model.RateLimit{
		Name:      p.owner.Namespace + "/" + p.owner.Name,
		PerSecond: d.perSecond, SecondBurst: d.perSecond * multiplier,
		PerMinute: d.perMinute, MinuteBurst: d.perMinute * multiplier,
		Connections: d.connections, Exempt: d.exempt,
	}
}
