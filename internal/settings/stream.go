// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import "time"

// streams are about TCP and UDP services.
var streams = Group{
	Name: "stream", Doc: "TCP and UDP services. They are not proxied yet: these keys are checked, and have no effect until they are.",
	Keys: []Key{
		Bool("proxy-stream-next-upstream", Spec{
			Default: "true", Example: "false", Harmless: []string{"true", "t", "1"}, Lacks: noStreams,
			Doc: "Tries another endpoint when a connection cannot be opened. No effect yet.",
		}, func(d *draft, v bool) { d.StreamProxy.Retry = v }),

		Parsed("proxy-stream-next-upstream-timeout", "time with unit", Spec{
			Default: "600s", Example: "10s", Harmless: []string{"600s"}, Lacks: noStreams,
			Doc: "How long such tries may take together; 0 for no bound. No effect yet.",
		}, parseBound, func(d *draft, v time.Duration) { d.StreamProxy.RetryWithin = v }),

		Int("proxy-stream-next-upstream-tries", Spec{
			Default: "3", Example: "2", Harmless: []string{"3"}, Lacks: noStreams,
			Doc: "How many endpoints are tried; 0 for no bound. No effect yet.",
		}, func(d *draft, v int) { d.StreamProxy.Tries = v }),

		Int("proxy-stream-responses", Spec{
			Default: "1", Example: "0", Harmless: []string{"1"}, Lacks: noStreams,
			Doc: "How many datagrams come back in a session of UDP before it is over. No effect yet.",
		}, func(d *draft, v int) { d.StreamProxy.Responses = v }),

		Parsed("proxy-stream-timeout", "time with unit", Spec{
			Default: "600s", Example: "1h", Harmless: []string{"600s"}, Lacks: noStreams,
			Doc: "How long a session may be idle. No effect yet.",
		}, parseDuration, func(d *draft, v time.Duration) { d.StreamProxy.Timeout = v }),
	},
}

const noStreams = "TCP and UDP services are not proxied yet; it has no effect"

// parseBound is parseDuration with 0 for no bound.
func parseBound(text string) (time.Duration, error) {
	if text == "0" || text == "0s" {
		return 0, nil
	}
	return parseDuration(text)
}
