// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var proxy = Group{
	Name: "proxy", Doc: "Bounds on requests and on the wait for backends; annotations of the same names override them for their routes.",
	Keys: []Key{
		Enum("load-balance", Spec{
			Default: none, Example: "ewma", Reload: true,
			Doc: "How requests are spread over endpoints: round_robin, which is also the default, ewma, least_conn, p2c or random. See [balancing](balancing.md). " +
				"ewma, least_conn and p2c reload nginx when nothing asked for one of them before.",
		}, algorithmNames(), algorithms(), func(d *draft, v *model.Balance) { d.Route.Balance = v }),

		Parsed("proxy-body-size", "size", Spec{
			Default: "1m", Example: "8m", Reload: true,
			Doc: "The largest request body; 0 means no limit. Units are k, m and g.",
		}, value.Size, func(d *draft, v int64) { d.Route.BodyLimit = v }),

		Seconds("proxy-connect-timeout", Spec{
			Default: "5", Example: "10", Reload: true,
			Doc: "How long the connection to an endpoint may take.",
		}, func(d *draft, v time.Duration) { d.Route.Timeouts.Connect = v }),

		Parsed("proxy-http-version", "1.0 or 1.1", Spec{
			Default: "1.1", Example: "1.0", Reload: true,
			Doc: "The version of HTTP towards the endpoints.",
		}, value.Version10, func(d *draft, v bool) { d.Route.HTTPVersion10 = v }),

		Seconds("proxy-read-timeout", Spec{
			Default: "60", Example: "3600", Reload: true,
			Doc: "The longest pause between two reads from the endpoint.",
		}, func(d *draft, v time.Duration) { d.Route.Timeouts.Read = v }),

		Seconds("proxy-send-timeout", Spec{
			Default: "60", Example: "120", Reload: true,
			Doc: "The longest pause between two writes to the endpoint.",
		}, func(d *draft, v time.Duration) { d.Route.Timeouts.Send = v }),

		Parsed("proxy-ssl-location-only", "true", Spec{
			Default: "true", Example: "true",
			Doc: "The proxy-ssl annotations only ever count for the routes of their own Ingress.",
		}, parseLocationOnly, func(*draft, bool) {}),

		Bool("service-upstream", Spec{
			Default: "false", Example: "true",
			Doc: "Sends requests to the address of the Service itself instead of its endpoints.",
		}, func(d *draft, v bool) { d.VirtualServices = v }),

		Int("upstream-keepalive-connections", Spec{
			Default: "320", Example: "64", Reload: true,
			Doc: "Idle connections to endpoints that a worker keeps, for all backends together; 0 closes each after use.",
		}, func(d *draft, v int) { d.KeepaliveConnections = v }),
	},
}

// parseLocationOnly refuses false: what one Ingress says of its backends must not change how those of another are verified.
func parseLocationOnly(text string) (bool, error) {
	v, err := parseBool(text)
	if err == nil && !v && text != "" {
		err = errors.New("would let an Ingress change how the backends of others are verified")
	}
	return v, err
}

func algorithmNames() []string {
	var names []string
	for _, a := range model.Algorithms() {
		names = append(names, a.String())
	}
	return names
}

// algorithms are the ways to balance of algorithmNames; nil is round robin.
func algorithms() []*model.Balance {
	var list []*model.Balance
	for _, a := range model.Algorithms() {
		balance := &model.Balance{Algorithm: a}
		if a == model.RoundRobin {
			balance = nil
		}
		list = append(list, balance)
	}
	return list
}
