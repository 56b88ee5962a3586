// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var tracing = Group{
	Name: "tracing", Doc: "Defaults of the annotations of the same names. No spans are made yet.",
	Keys: []Key{
		Bool("enable-opentelemetry", Spec{
			Default: "false", Example: "true", Harmless: []string{"false", "f", "0"}, Lacks: "no spans are made yet; requests are served without",
			Doc: "Asks for spans of the requests of all routes that do not decline. None are made yet.",
		}, func(d *draft, v bool) { d.tracing.On = v }),

		Parsed("opentelemetry-operation-name", "text with variables", Spec{
			Default: none, Example: "ingress",
			Doc: "The name of the spans.",
		}, value.Template, func(d *draft, v model.Template) { d.tracing.Operation = string(v) }),

		Bool("opentelemetry-trust-incoming-span", Spec{
			Default: "true", Example: "false",
			Doc: "Whether traces that clients send along are continued.",
		}, func(d *draft, v bool) { d.distrust = !v }),
	},
}

// finishTracing makes the default of routes of what the keys say.
func (d *draft) finishTracing() {
	if d.distrust {
		d.tracing.TrustIncoming = new(bool)
	}
	if d.tracing != (model.Tracing{}) {
		t := d.tracing
		d.Route.Tracing = &t
	}
}
