// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"time"
)

// streams are about TCP and UDP services.
var streams = Group{
	Name: "stream", Doc: "TCP and UDP services: see [tcp-udp.md](tcp-udp.md). All of them count for connections and sessions that begin afterwards, but for the timeout, which counts at once.",
	Keys: []Key{
		Parsed("proxy-stream-load-balance", "round_robin or least_conn", Spec{
			Default: "round_robin", Example: "least_conn", Own: true,
			Doc: "How the endpoint of a TCP connection is chosen: each in its turn, or the one with the fewest connections that come through this replica.",
		}, parseStreamBalance, func(d *draft, v bool) { d.StreamProxy.LeastConnections = v }),

		Int("proxy-stream-max-connections", Spec{
			Default: "16384", Example: "100000", Own: true,
			Doc: "How many TCP connections, or sessions of UDP, each port has at once and on each replica; 0 for no bound. More are refused.",
		}, func(d *draft, v int) { d.StreamProxy.MaxConnections = v }),

		Bool("proxy-stream-next-upstream", Spec{
			Default: "true", Example: "false",
			Doc: "Tries another endpoint when a connection cannot be opened. How long one may take is proxy-connect-timeout.",
		}, func(d *draft, v bool) { d.StreamProxy.Retry = v }),

		Parsed("proxy-stream-next-upstream-timeout", "time with unit", Spec{
			Default: "600s", Example: "10s",
			Doc: "How long such tries may take together; 0 for no bound.",
		}, parseBound, func(d *draft, v time.Duration) { d.StreamProxy.RetryWithin = v }),

		Int("proxy-stream-next-upstream-tries", Spec{
			Default: "3", Example: "2",
			Doc: "How many endpoints are tried; 0 for no bound.",
		}, func(d *draft, v int) { d.StreamProxy.Tries = v }),

		Int("proxy-stream-responses", Spec{
			Default: "1", Example: "0", Min: -1,
			Doc: "How many datagrams of the endpoint are due for each of a client. A session of UDP that has got them is over, and the client's next datagram may go to another endpoint. 0 expects none; -1 sets no number, as for protocols with connections of their own (QUIC, WireGuard, games).",
		}, func(d *draft, v int) { d.StreamProxy.Responses = v }),

		Parsed("proxy-stream-timeout", "time with unit", Spec{
			Default: "600s", Example: "1h",
			Doc: "How long a connection or session may be idle.",
		}, parseDuration, func(d *draft, v time.Duration) { d.StreamProxy.Timeout = v }),
	},
}

// parseStreamBalance tells whether the fewest connections decide.
func parseStreamBalance(text string) (leastConnections bool, err error) {
	switch text {
	case "round_robin":
		return false, nil
	case "least_conn":
		return true, nil
	}
	return false, errors.New("it must be round_robin or least_conn")
}

// parseBound is parseDuration with 0 for no bound.
func parseBound(text string) (time.Duration, error) {
	if text == "0" || text == "0s" {
		return 0, nil
	}
	return parseDuration(text)
}
