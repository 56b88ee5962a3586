// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"fmt"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

func TestHealth(t *testing.T) {
	report := model.HealthReport{ChecksPassed: 5, ChecksFailed: 2, Ejections: 3, Out: []model.EndpointHealth{
		{Backend: model.BackendID{Namespace: "shop", Service: "web", Port: "80"}, State: model.Unhealthy},
		{Backend: model.BackendID{Namespace: "shop", Service: "web", Port: "80"}, State: model.Unhealthy},
		{Backend: model.BackendID{Namespace: "shop", Service: "web", Port: "80"}, State: model.Ejected},
	}}
	m := New(Options{Health: func(context.Context) (model.HealthReport, error) { return report, nil }})
	expect(t, m, `fairway_health_checks_total{result="passed"} 5`, `fairway_health_checks_total{result="failed"} 2`, "fairway_health_ejections_total 3",
		`fairway_health_endpoints_out{namespace="shop",port="80",service="web",state="unhealthy"} 2`,
		`fairway_health_endpoints_out{namespace="shop",port="80",service="web",state="ejected"} 1`)
	for i := range 2 * mostOut {
		report.Out = append(report.Out, model.EndpointHealth{Backend: model.BackendID{Namespace: "shop", Service: fmt.Sprint(i), Port: "80"}})
	}
	if n := len(countOut(report.Out)); n > mostOut+2 {
		t.Errorf("%d series", n)
	}
}
