// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// wafDraft is what the keys of ModSecurity say; nil is what the settings say.
type wafDraft struct {
	on, core    *bool
	transaction model.Template
	rules       model.Snippet
}

var waf = Group{
	Name: "waf", Doc: "Runs ModSecurity on requests. Where nginx lacks the module, or the rules asked for, the routes answer 503.", finish: finishWAF,
	Keys: []Key{
		Bool("enable-modsecurity", Spec{
			Scope: Route, Risk: Low, Default: "false", Setting: "enable-modsecurity", Example: "true", Closes: true,
			Doc:    "true runs ModSecurity with the recommended configuration, which only detects, or with the rules of modsecurity-snippet. false switches it off where the settings have it on.",
			Source: "ModSecurity-nginx", Shape: "one for all routes with the recommended rules",
		}, func(e *Effect, v bool) { e.waf.on = &v }),

		Bool("enable-owasp-core-rules", Spec{
			Scope: Route, Risk: Low, Default: "false", Setting: "enable-owasp-modsecurity-crs", Example: "true", Closes: true,
			Doc:    "Adds the OWASP core rule set where ModSecurity runs.",
			Source: "OWASP CRS", Shape: "one for all routes with the core rules",
		}, func(e *Effect, v bool) { e.waf.core = &v }),

		Parsed("modsecurity-transaction-id", "text with variables", Spec{
			Scope: Route, Risk: High, Default: "an ID of ModSecurity's own", Example: "$request_id",
			Doc:    "The ID that ModSecurity's log gives a request.",
			Source: "modsecurity_transaction_id of ModSecurity-nginx", Shape: "one for all routes with IDs of their own",
		}, value.TemplateOf("-"), func(e *Effect, v model.Template) { e.waf.transaction = v }),
	},
}

// finishWAF makes the policy of what the keys and the settings say.
func finishWAF(p *parser) {
	d, usual := p.effect.waf, p.effect.Policy.WAF
	if on := d.on; on != nil && !*on || on == nil && usual == nil {
		p.effect.Policy.WAF = nil
		p.without("enable-modsecurity", "enable-owasp-core-rules", "modsecurity-transaction-id")
		return
	}
	w := model.WAF{TransactionID: d.transaction, Rules: d.rules}
	if usual != nil {
		w.CoreRules = usual.CoreRules
		if w.Rules == "" {
			w.Rules = usual.Rules
		}
	}
	if d.core != nil {
		w.CoreRules = *d.core
	}
	p.effect.Policy.WAF = &w
}
