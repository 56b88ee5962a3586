// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import "github.com/fairway-ingress/fairway/internal/model"

var waf = Group{
	Name: "waf", Doc: "ModSecurity on every route that does not switch it off by the annotation enable-modsecurity.",
	Keys: []Key{
		Bool("enable-modsecurity", Spec{
			Default: "false", Example: "true", Closes: true, Reload: true,
			Doc: "Runs ModSecurity with the recommended configuration, which only detects. Every route answers 503 where nginx lacks the module.",
		}, func(d *draft, v bool) { d.waf = v }),

		Bool("enable-owasp-modsecurity-crs", Spec{
			Default: "false", Example: "true", Closes: true, Reload: true, With: "enable-modsecurity",
			Doc: "Adds the OWASP core rule set where ModSecurity runs.",
		}, func(d *draft, v bool) { d.coreRules = v }),
	},
}

// finishWAF makes the policy of what the keys say.
func (d *draft) finishWAF() {
	if d.waf {
		d.Route.WAF = &model.WAF{CoreRules: d.coreRules}
	}
}
