// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import "time"

// mostRequests is more than a connection lives to see.
const mostRequests = 1 << 30

var upstream = Group{
	Name: "upstream", Doc: "Connections to endpoints; how many are kept is said by [upstream-keepalive-connections](#upstream-keepalive-connections).",
	Keys: []Key{
		Bool("disable-ipv6-dns", Spec{
			Default: "false", Example: "true",
			Differs: "It is false unless set; there it followed the pod's interfaces.",
			Doc:     "Leaves IPv6 addresses of ExternalName Services out.",
		}, func(d *draft, v bool) { d.Upstream.IPv4Names = v }),

		Parsed("grpc-buffer-size-kb", "number", Spec{
			Default: "0", Example: "64", Reload: true,
			Doc: "The buffer for responses of gRPC backends, in kilobytes, at most 65536; 0 leaves nginx' own size.",
		}, within(0, 65536), func(d *draft, v int) { d.Upstream.GRPCBuffer = int64(v) << 10 }),

		Parsed("upstream-keepalive-requests", "number from 1", Spec{
			Default: "10000", Example: "100", Reload: true,
			Doc: "How many requests a kept connection carries.",
		}, within(1, mostRequests), func(d *draft, v int) { d.Upstream.KeepaliveRequests = v }),

		Parsed("upstream-keepalive-time", "time with unit", Spec{
			Default: "1h", Example: "10m", Reload: true,
			Doc: "How old a kept connection may become.",
		}, parseDuration, func(d *draft, v time.Duration) { d.Upstream.KeepaliveTime = v }),

		Seconds("upstream-keepalive-timeout", Spec{
			Default: "60", Example: "30", Reload: true,
			Doc: "How long a kept connection may be idle, in seconds.",
		}, func(d *draft, v time.Duration) { d.Upstream.KeepaliveTimeout = v }),
	},
}
