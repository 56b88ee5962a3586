// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var outlier = Group{
	Name: "outlier",
	Doc: "Takes requests away for a while from endpoints that fail them: that refuse the connection, do not answer in time or not in HTTP, or answer with 500 to 599. " +
		"See [health.md](health.md). What is said above of Services and Ingresses holds here too.",
	Keys: own(
		Parsed("outlier-base-ejection-time", "time", Spec{
			Scope: Service, Risk: Low, Default: "30s", Example: "10s", OnCanary: true,
			Doc: "How long the first ejection lasts; 1s to 1h. Each further one lasts twice as long as the one before. Who stays in for as long as " +
				"outlier-max-ejection-time begins anew.",
			Source: "Fairway",
		}, value.DurationWithin(time.Second, time.Hour), func(e *Effect, v time.Duration) { e.outlier.Base = v }),

		Parsed("outlier-consecutive-failures", "number", Spec{
			Scope: Service, Risk: Low, Min: 1, Max: 1000, Default: "none", Example: "5", OnCanary: true,
			Doc: "So many failures in a row, of requests of all workers together, eject an endpoint.", Source: "Fairway",
			Shape: "One for all Services that eject endpoints, as requests must be observed.",
		}, value.NumberWithin(1, 1000), func(e *Effect, v int) { e.outlier.Consecutive = v }),

		Parsed("outlier-error-rate", "percent", Spec{
			Scope: Service, Risk: Low, Min: 1, Max: 100, Default: "none", Example: "50", OnCanary: true,
			Doc: "An endpoint is ejected when it failed at least this share of the requests of the last outlier-window.", Source: "Fairway",
			Shape: "As outlier-consecutive-failures.",
		}, value.NumberWithin(1, 100), func(e *Effect, v int) { e.outlier.Rate = v }),

		Parsed("outlier-max-ejection-percent", "percent", Spec{
			Scope: Service, Risk: Low, Min: 1, Max: 50, Default: "50", Example: "20", OnCanary: true,
			Doc: "This share of the endpoints, rounded down, may be ejected at once; others that fail stay in.", Source: "Fairway",
		}, value.NumberWithin(1, 50), func(e *Effect, v int) { e.outlier.MostPercent = v }),

		Parsed("outlier-max-ejection-time", "time", Spec{
			Scope: Service, Risk: Low, Default: "5m", Example: "2m", OnCanary: true,
			Doc: "No ejection lasts longer; 1s to 24h.", Source: "Fairway",
		}, value.DurationWithin(time.Second, 24*time.Hour), func(e *Effect, v time.Duration) { e.outlier.Longest = v }),

		Parsed("outlier-min-requests", "number", Spec{
			Scope: Service, Risk: Low, Min: 1, Max: 1000000, Default: "20", Example: "50", OnCanary: true,
			Doc: "With outlier-error-rate: an endpoint that had fewer requests within the window is not judged by it.", Source: "Fairway",
		}, value.NumberWithin(1, 1000000), func(e *Effect, v int) { e.outlier.MinRequests = v }),

		Parsed("outlier-panic-threshold", "percent", Spec{
			Scope: Service, Risk: Low, Max: 100, Default: "0", Example: "30", OnCanary: true,
			Doc: "While less than this share of the endpoints is left, those that checks found unwell not counted either, all are used. With 0 all are used only when " +
				"none is left. Beside health-check-panic-threshold the larger counts.",
			Source: "Fairway",
		}, value.NumberWithin(0, 100), func(e *Effect, v int) { e.outlier.Panic = v }),

		Parsed("outlier-window", "time", Spec{
			Scope: Service, Risk: Low, Default: "30s", Example: "10s", OnCanary: true,
			Doc: "With outlier-error-rate: how far back requests count, at most; 1s to 1h. What counts is between half of it and the whole.", Source: "Fairway",
		}, value.DurationWithin(time.Second, time.Hour), func(e *Effect, v time.Duration) { e.outlier.Window = v }),
	),
	finish: (*parser).finishOutlier,
}

func newOutlierDraft() model.Outlier {
	return model.Outlier{Window: 30 * time.Second, MinRequests: 20, Base: 30 * time.Second, Longest: 5 * time.Minute, MostPercent: 50}
}

func (p *parser) finishOutlier() {
	draft := p.effect.outlier
	if !p.has("outlier-error-rate") {
		p.without("outlier-error-rate", "outlier-min-requests", "outlier-window")
		if !p.has("outlier-consecutive-failures") {
			p.without("outlier-consecutive-failures or outlier-error-rate",
				"outlier-base-ejection-time", "outlier-max-ejection-percent", "outlier-max-ejection-time", "outlier-panic-threshold")
		}
	}
	if draft.Consecutive == 0 && draft.Rate == 0 {
		return
	}
	if draft.Longest < draft.Base {
		if p.has("outlier-max-ejection-time") {
			p.problem("outlier-max-ejection-time", model.ReasonInvalidAnnotation, "is less than outlier-base-ejection-time, which counts instead")
		}
		draft.Longest = draft.Base
	}
	p.effect.Health.Outlier = &draft
}
