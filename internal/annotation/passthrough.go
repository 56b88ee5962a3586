// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

var passthrough = Group{
	Name: "passthrough",
	Doc:  "Leaves TLS to the backend.",
	Keys: []Key{
		Bool("ssl-passthrough", Spec{
			Scope: Host, Risk: Low, Refused: true, Default: "false", Example: "true",
			Doc: "Connections over TLS whose server name is the host, or one of its aliases, go undecrypted to an endpoint of the Service behind the path / of this " +
				"Ingress; other paths and all annotations about requests mean nothing to them. Requests in plain text are served as usual. Needs the flag " +
				"--enable-ssl-passthrough, and has no effect without it.",
			Source: "package l4",
			Differs: "Counts for the Ingress whose path / it is, not for any of the host. Wildcard hosts and aliases pass through too, and connections go to endpoints, not to the " +
				"Service's address.",
		}, func(e *Effect, v bool) { e.Host.Passthrough = v }),
	},
}
