// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import "time"

var proxy = Group{
	Name: "proxy", Doc: "Bounds on requests and on the wait for backends; annotations of the same names override them for their routes.",
	Keys: []Key{
		Parsed("proxy-body-size", "size", Spec{
			Default: "1m", Example: "8m",
			Doc: "The largest request body; 0 means no limit. Units are k, m and g.",
		}, parseSize, func(d *draft, v int64) { d.Route.BodyLimit = v }),

		Seconds("proxy-connect-timeout", Spec{
			Default: "5", Example: "10",
			Doc: "How long the connection to an endpoint may take.",
		}, func(d *draft, v time.Duration) { d.Route.Timeouts.Connect = v }),

		Seconds("proxy-read-timeout", Spec{
			Default: "60", Example: "3600",
			Doc: "The longest pause between two reads from the endpoint.",
		}, func(d *draft, v time.Duration) { d.Route.Timeouts.Read = v }),

		Seconds("proxy-send-timeout", Spec{
			Default: "60", Example: "120",
			Doc: "The longest pause between two writes to the endpoint.",
		}, func(d *draft, v time.Duration) { d.Route.Timeouts.Send = v }),

		Int("upstream-keepalive-connections", Spec{
			Default: "320", Example: "64", Reload: true,
			Doc: "Idle connections to endpoints that a worker keeps, for all backends together; 0 closes each after use.",
		}, func(d *draft, v int) { d.KeepaliveConnections = v }),
	},
}
