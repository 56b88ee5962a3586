// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/translate"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/source"
)

// TestOutliersFollowEndpoints has endpoints come and go under all that remembers: of one endpoint none is ejected, and with another one it may be; a
// default-backend serves while there is none.
func TestOutliersFollowEndpoints(t *testing.T) {
	const cluster = `kind: Ingress
metadata: {name: a, annotations: {nginx.ingress.kubernetes.io/default-backend: sorry}}
spec:
  rules:
  - host: a.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
kind: Service
metadata: {name: web, annotations: {fairway.dev/outlier-consecutive-failures: "3", test/ready: "ENDPOINTS"}}
spec: {ports: [{port: 80}]}
---
kind: Service
metadata: {name: sorry, annotations: {test/ready: 10.0.0.9}}
spec: {ports: [{port: 80}]}
`
	base := ingress.NewBuilder(ingress.Options{ControllerClass: konghq.DefaultControllerClass, IngressClass: konghq.DefaultIngressClass})
	meaning, translator := konghq.NewBuilder(&konghq.Options{}), translate.New(translate.Options{})
	var first *source.Snapshot
	for _, c := range []struct{ endpoints, service, passive string }{
		{"10.0.0.1", "default.web.80", "no"},
		{"10.0.0.1,10.0.0.2", "default.web.80", "yes"},
		{"10.0.0.2", "default.web.80", "no"},
		{"", "default.sorry.80", "none"},
		{"10.0.0.1,10.0.0.2", "default.web.80", "yes"},
	} {
		text := strings.ReplaceAll(cluster, "ENDPOINTS", c.endpoints)
		file := readCase(t, golden.New(golden.Part{Name: "cluster.yaml", Text: text}))
		if first == nil {
			first = file.snapshot
		}
		snapshot := *first // whose objects are the same, but for the endpoints
		snapshot.EndpointSlices = file.snapshot.EndpointSlices
		result := base.Build(&snapshot)
		meaning.Build(&snapshot, result)
		state, _ := translator.Translate(result.Model, file.gateway())
		passive, service := "none", ""
		for _, e := range state.Entities {
			switch e := e.(type) {
			case *entity.Upstream:
				if strings.HasPrefix(e.Name, "web.") {
					passive = map[bool]string{true: "yes", false: "no"}[e.Healthchecks != nil && e.Healthchecks.Passive != nil]
				}
			case *entity.Route:
				for _, s := range state.Entities {
					if e.Service != nil && s.Common().ID == e.Service.ID {
						service = entity.Name(s)
					}
				}
			}
		}
		if service != c.service || passive != c.passive {
			t.Errorf("endpoints %q: the route leads to %s, failures are counted: %s; want %s, %s", c.endpoints, service, passive, c.service, c.passive)
		}
	}
}
