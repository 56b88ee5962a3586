// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// fenced is what all snippets have in common, for the reference.
const fenced = " It counts only with the settings allow-snippet-annotations and annotations-risk-level Critical; otherwise it closes the routes. Blocks and quotes must " +
	"balance, Lua blocks are not let in. nginx tests each snippet alone: one that it refuses closes the routes of its Ingress and nothing else."

const fencedDiffers = "A snippet that nginx refuses closes its own routes; there it blocked all later changes of everybody."

var snippets = Group{
	Name: "snippet", Doc: "Raw nginx configuration, for admins who trust their tenants. Each text is a shape of its own.", finish: finishSnippets,
	Keys: []Key{
		Parsed("auth-snippet", "nginx configuration", Spec{
			Scope: Route, Risk: Critical, Default: "none", Example: "proxy_set_header X-From ingress;", Closes: true,
			Doc:    "Directives for the location of the question of auth-url, without which it has no effect." + fenced,
			Source: "nginx", Shape: "one for each text", Differs: fencedDiffers,
		}, value.Snippet, func(e *Effect, v model.Snippet) { e.external.Snippet = v }),

		Parsed("configuration-snippet", "nginx configuration", Spec{
			Scope: Route, Risk: Critical, Default: "none", Example: "more_set_headers \"X-Served-By: fairway\";", Closes: true,
			Doc:    "Directives for the location of each path of the Ingress." + fenced,
			Source: "nginx", Shape: "one for each text", Differs: fencedDiffers,
		}, value.Snippet, func(e *Effect, v model.Snippet) { e.Policy.Snippet = v }),

		Parsed("modsecurity-snippet", "ModSecurity rules", Spec{
			Scope: Route, Risk: Critical, Default: "none", Example: "SecRuleEngine On", Closes: true,
			Doc: "Rules for ModSecurity instead of the recommended configuration; no effect where it is off. It counts only with the settings allow-snippet-annotations and " +
				"annotations-risk-level Critical; otherwise it closes the routes. nginx tests it alone: rules that it refuses close the routes of their Ingress and nothing else.",
			Source: "ModSecurity v3", Shape: "one for each text", Differs: fencedDiffers,
		}, value.Rules, func(e *Effect, v model.Snippet) { e.waf.rules = v }),

		Parsed("server-snippet", "nginx configuration", Spec{
			Scope: Host, Risk: Critical, Default: "none", Example: "location = /ping { return 200; }", Closes: true,
			Doc:    "Directives for the server of the Ingress's hosts, of which nginx then gets one of their own. Of several Ingresses of a host the oldest has it." + fenced,
			Source: "nginx", Shape: "a server for each host", Differs: fencedDiffers,
		}, value.Snippet, func(e *Effect, v model.Snippet) { e.Host.Snippet = v }),

		Parsed("stream-snippet", "nginx configuration", Spec{
			Scope: Ingress, Risk: Critical, Default: "none", Example: "server { listen 127.0.0.1:8999; return ok; }", Closes: true, OnCanary: true,
			Doc:    "Directives for the stream block, after those of older Ingresses." + fenced,
			Source: "nginx", Shape: "a reload for each change", Differs: fencedDiffers,
		}, value.Snippet, func(e *Effect, v model.Snippet) { e.StreamSnippet = v }),
	},
}

// finishSnippets reports rules that nobody runs.
func finishSnippets(p *parser) {
	if p.has("modsecurity-snippet") && p.effect.Policy.WAF == nil {
		p.without("enable-modsecurity", "modsecurity-snippet")
	}
}
