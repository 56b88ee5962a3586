// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/fairway-ingress/fairway/internal/health"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx"
)

// healthOf puts together what checks found and whom nginx ejected. With an error it gives what checks found.
func healthOf(checks *health.Driver, driver *nginx.Driver) func(context.Context) (model.HealthReport, error) {
	return func(ctx context.Context) (model.HealthReport, error) {
		totals := checks.Totals()
		report := model.HealthReport{Out: checks.Unhealthy(), ChecksPassed: totals.Passed, ChecksFailed: totals.Failed}
		ejected, total, err := driver.Ejected(ctx)
		report.Out, report.Ejections = append(report.Out, ejected...), total
		slices.SortStableFunc(report.Out, func(a, b model.EndpointHealth) int {
			return cmp.Or(a.Backend.Compare(b.Backend), a.Endpoint.Compare(b.Endpoint))
		})
		return report, err
	}
}
