// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

var client = Group{
	Name: "client", Doc: "What clients say and are told about themselves and the proxy.",
	Keys: []Key{
		Parsed("proxy-real-ip-cidr", "list of networks", Spec{
			Default: "0.0.0.0/0", Example: "10.0.0.0/8,fd00::/8", Reload: true,
			Doc: "The peers whose X-Forwarded-For is believed, if use-forwarded-headers is on.",
		}, parseNetworks, func(d *draft, v []string) { d.TrustedProxies = v }),

		Bool("server-tokens", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Shows the Server header.",
		}, func(d *draft, v bool) { d.ServerTokens = v }),

		Bool("use-forwarded-headers", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Trusts X-Forwarded-For, -Proto, -Port and -Host of the peers in proxy-real-ip-cidr.",
		}, func(d *draft, v bool) { d.UseForwardedHeaders = v }),
	},
}
