// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

var outlier = Group{
	Name: "outlier",
	Doc: "Takes requests away for a while from endpoints that fail them: that refuse the connection, do not answer in time or not in HTTP, or answer with 500 to 599. " +
		"See [health.md](health.md). What is said above of Services and Ingresses holds here too.",
	Keys: ofService(
		Time("outlier-base-ejection-time", time.Second, time.Hour, Spec{
			Default: "30s", Example: "10s",
			Doc: "How long the first ejection lasts; 1s to 1h. Each further one lasts twice as long as the one before. Who stays in for as long as " +
				"outlier-max-ejection-time begins anew.",
			Source: "Fairway",
		}, func(e *Effect, v time.Duration) { e.outlier.Base = v }),

		Within("outlier-consecutive-failures", "number", Spec{
			Min: 1, Max: 1000, Default: "none", Example: "5",
			Doc: "So many failures in a row, of requests of all workers together, eject an endpoint.", Source: "Fairway",
			Shape: "One for all Services that eject endpoints, as requests must be observed.",
		}, func(e *Effect, v int) { e.outlier.Consecutive = v }),

		Within("outlier-error-rate", "percent", Spec{
			Min: 1, Max: 100, Default: "none", Example: "50",
			Doc: "An endpoint is ejected when it failed at least this share of the requests of the last outlier-window.", Source: "Fairway",
			Shape: "As outlier-consecutive-failures.",
		}, func(e *Effect, v int) { e.outlier.Rate = v }),

		Within("outlier-max-ejection-percent", "percent", Spec{
			Min: 1, Max: 50, Default: "50", Example: "20",
			Doc: "This share of the endpoints, rounded down, may be ejected at once; others that fail stay in.", Source: "Fairway",
		}, func(e *Effect, v int) { e.outlier.MostPercent = v }),

		Time("outlier-max-ejection-time", time.Second, 24*time.Hour, Spec{
			Default: "5m", Example: "2m",
			Doc: "No ejection lasts longer; 1s to 24h.", Source: "Fairway",
		}, func(e *Effect, v time.Duration) { e.outlier.Longest = v }),

		Within("outlier-min-requests", "number", Spec{
			Min: 1, Max: 1000000, Default: "20", Example: "50",
			Doc: "With outlier-error-rate: an endpoint that had fewer requests within the window is not judged by it.", Source: "Fairway",
		}, func(e *Effect, v int) { e.outlier.MinRequests = v }),

		Within("outlier-panic-threshold", "percent", Spec{
			Max: 100, Default: "0", Example: "30",
			Doc: "While less than this share of the endpoints is left, those that checks found unwell not counted either, all are used. With 0 all are used only when " +
				"none is left. Beside health-check-panic-threshold the larger counts.",
			Source: "Fairway",
		}, func(e *Effect, v int) { e.outlier.Panic = v }),

		Time("outlier-window", time.Second, time.Hour, Spec{
			Default: "30s", Example: "10s",
			Doc: "With outlier-error-rate: how far back requests count, at most; 1s to 1h. What counts is between half of it and the whole.", Source: "Fairway",
		}, func(e *Effect, v time.Duration) { e.outlier.Window = v }),
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
