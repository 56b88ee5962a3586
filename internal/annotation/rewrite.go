// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

var rewrite = Group{
	Name: "rewrite", Doc: "Changes the path that the backend sees, and how paths are matched.",
	Keys: []Key{
		Parsed("rewrite-target", "path with $1 to $9", Spec{
			Scope: Host, Risk: Medium, Default: "no rewrite", Example: "/$2",
			Doc: "The part of the request path that the rule's path finds, as a case-insensitive regular expression, is replaced by this " +
				"value, in which $1 to $9 stand for the groups of the expression. The query stays. A target that differs from the path switches " +
				"all paths of the host, also those of other Ingresses, to regular expressions: see use-regex. nginx variables are refused.",
			Source: "ngx_http_rewrite_module, done in Lua",
		}, parseRewriteTarget, func(e *Effect, v string) { e.RewriteTarget = v }),

		Bool("use-regex", Spec{
			Scope: Host, Risk: Low, Default: "false", Example: "true",
			Doc: "The paths of the host, also those of other Ingresses, are case-insensitive regular expressions which must match at the start " +
				"of the request path. The longest text is tried first, the first match wins. An expression may have 512 bytes and no look-around or back reference; of others the literal beginning is closed (503).",
			Source: "PCRE, ngx.re",
		}, func(e *Effect, v bool) { e.UseRegex = v }),
	},
}
