// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

var logs = Group{
	Name: "logs", Doc: "What is written down about the requests of a route.",
	Keys: []Key{
		Bool("enable-access-log", Spec{
			Scope: Route, Risk: Low, Default: "true", Example: "false",
			Doc:    "false leaves the requests out of the access log. true changes nothing where the setting disable-access-log leaves out all.",
			Source: "access_log of ngx_http_log_module",
		}, func(e *Effect, v bool) { e.Policy.Unlogged = !v }),

		Bool("enable-rewrite-log", Spec{
			Scope: Route, Risk: Low, Default: "false", Example: "true",
			Doc:     "Notes in the error log, at the level notice, what rewrite-target makes of a path.",
			Source:  "rewrite_log of ngx_http_rewrite_module, done in Lua",
			Differs: "The line says what the path was and became, and only requests that are rewritten have one; there each step of nginx' rewrite module had one.",
		}, func(e *Effect, v bool) { e.Policy.LogRewrites = v }),
	},
}
