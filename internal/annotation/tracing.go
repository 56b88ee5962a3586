// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// tracingDraft is what the keys about spans say; nil and empty where they say nothing.
type tracingDraft struct {
	on, trust *bool
	operation string
}

var tracing = Group{
	Name: "tracing", finish: finishTracing,
	Doc: "Traces of requests by OpenTelemetry. No spans are made yet: the keys are read and checked, and shown with the policy of a route. The other keys count beside " +
		"enable-opentelemetry only.",
	Keys: []Key{
		Bool("enable-opentelemetry", Spec{
			Scope: Route, Risk: Low, Default: "false", Setting: "enable-opentelemetry", Example: "true",
			Doc:    "Asks for spans of the requests, or declines those that the setting asks for.",
			Source: "OpenTelemetry", Differs: "No spans are made yet.", NotYet: true,
		}, func(e *Effect, v bool) { e.tracing.on = &v }),

		Parsed("opentelemetry-operation-name", "letters, digits, _ and -", Spec{
			Scope: Route, Risk: Medium, Refused: true, Default: "none", Setting: "opentelemetry-operation-name", Example: "checkout",
			Doc:    "The name of the spans. Blanks are dropped.",
			Source: "OpenTelemetry", Differs: "No spans are made yet.", NotYet: true,
		}, value.OperationName, func(e *Effect, v string) { e.tracing.operation = v }),

		Bool("opentelemetry-trust-incoming-span", Spec{
			Scope: Route, Risk: Low, Default: "true", Setting: "opentelemetry-trust-incoming-span", Example: "false",
			Doc:    "Whether the trace that a client sends along is continued.",
			Source: "W3C Trace Context", Differs: "No spans are made yet.", NotYet: true,
		}, func(e *Effect, v bool) { e.tracing.trust = &v }),
	},
}

// finishTracing makes the policy. Without enable-opentelemetry the others have no effect, whatever the settings say, as with the predecessor.
func finishTracing(p *parser) {
	d := p.effect.tracing
	if d.on == nil {
		if (d.trust != nil || d.operation != "") && !p.has("enable-opentelemetry") {
			p.without("enable-opentelemetry", "opentelemetry-operation-name", "opentelemetry-trust-incoming-span")
		}
		return
	}
	t := model.Tracing{}
	if usual := p.settings.Route.Tracing; usual != nil {
		t = *usual
	}
	if t.On = *d.on; t.On {
		if d.trust != nil {
			t.TrustIncoming = d.trust
		}
		if d.operation != "" {
			t.Operation = d.operation
		}
		p.problem("enable-opentelemetry", model.ReasonUnsupported, "no spans are made yet; requests are served without")
	}
	p.effect.Policy.Tracing = &t
}
