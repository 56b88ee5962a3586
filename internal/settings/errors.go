// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var errorPages = Group{
	Name: "errors", Doc: "Responses that the default backend replaces; see the annotations of the same names.",
	Keys: []Key{
		Parsed("custom-http-errors", "statuses with commas between", Spec{
			Default: none, Example: "404,503", Reload: true,
			Doc: "Responses with these statuses, 300 to 599, of backends or of Fairway itself, are replaced on all routes that have no annotation of the same name.",
		}, value.Statuses(300), func(d *draft, v []int) { d.errors.Codes = v }),

		Bool("disable-proxy-intercept-errors", Spec{
			Default: "false", Example: "true", Reload: true, With: "custom-http-errors",
			Doc: "With custom-http-errors of the settings: leaves the responses of backends as they are.",
		}, func(d *draft, v bool) { d.errors.Intercept = !v }),
	},
}

// finishErrors makes the default of routes of what the keys say.
func (d *draft) finishErrors() {
	if d.errors.Codes != nil {
		d.Route.Errors = &model.Errors{Codes: d.errors.Codes, Intercept: d.errors.Intercept}
	}
}
