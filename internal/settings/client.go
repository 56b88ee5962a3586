// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

var client = Group{
	Name: "client", Doc: "What clients say and are told about themselves and the proxy.",
	Keys: []Key{
		Bool("server-tokens", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Shows the Server header.",
		}, func(d *draft, v bool) { d.ServerTokens = v }),
	},
}
