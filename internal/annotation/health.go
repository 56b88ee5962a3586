// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var healthCheck = Group{
	Name: "health-check",
	Doc: "Asks each endpoint of a Service from time to time whether it is well; one that is not gets no requests until it is well again. See [health.md](health.md). " +
		"On a Service the keys count for all its ports. On an Ingress they count for each Service and port that it names, wherever that is used; where the Service has keys " +
		"of this group itself those of Ingresses have no effect, and of several Ingresses the oldest decides.",
	Keys: ofService(
		Within("health-check-healthy-threshold", "number", Spec{
			Min: 1, Max: 100, Default: "2", Example: "1",
			Doc: "So many checks in a row must pass before an endpoint that was not well gets requests again.", Source: "Fairway",
		}, func(e *Effect, v int) { e.check.Healthy = v }),

		Parsed("health-check-host", "host name with an optional port", Spec{
			Default: "the endpoint's address", Example: "shop.example.com",
			Doc: "The Host header of checks by HTTP, the authority of those by gRPC, and the TLS server name of both.", Source: "RFC 9110 section 7.2",
		}, value.CheckHost, func(e *Effect, v string) { e.check.Host = v }),

		Time("health-check-interval", 500*time.Millisecond, time.Hour, Spec{
			Default: "10s", Example: "5s",
			Doc: "The time from one check of an endpoint to the next, give or take a tenth by chance; 500ms to 1h. A number without unit is seconds.", Source: "Fairway",
		}, func(e *Effect, v time.Duration) { e.check.Interval = v }),

		Within("health-check-panic-threshold", "percent", Spec{
			Max: 100, Default: "0", Example: "30",
			Doc: "While less than this share of the endpoints is well, all are used: then it is more likely the check that is wrong, or what is left would break under the load. " +
				"With 0 all are used only when none is well.",
			Source: "Fairway",
		}, func(e *Effect, v int) { e.check.Panic = v }),

		Parsed("health-check-path", "path with an optional query", Spec{
			Default: "/", Example: "/healthz",
			Doc: "What checks by HTTP ask for, by GET. Redirects are not followed.", Source: "RFC 9112 section 3.2",
		}, value.CheckPath, func(e *Effect, v string) { e.check.Path = v }),

		Parsed("health-check-port", "port", Spec{
			Default: "the endpoint's own", Example: "8081",
			Doc: "The port of the endpoint's address that is asked.", Source: "Fairway",
		}, value.Port, func(e *Effect, v uint16) { e.check.Port = v }),

		Parsed("health-check-service", "name", Spec{
			Default: "none", Example: "shop.v1.Cart",
			Doc: "Which service a gRPC server is asked about; without it, about itself as a whole.", Source: "grpc.health.v1",
		}, value.GRPCService, func(e *Effect, v string) { e.check.Service = v }),

		Parsed("health-check-status", "statuses and ranges, separated by commas", Spec{
			Default: "200-399", Example: "200,204",
			Doc: "The answers to checks by HTTP of an endpoint that is well.", Source: "RFC 9110 section 15",
		}, value.StatusRanges, func(e *Effect, v []model.StatusRange) { e.check.Statuses = v }),

		Time("health-check-timeout", 100*time.Millisecond, time.Minute, Spec{
			Default: "5s", Example: "2s",
			Doc: "A check that takes longer has failed; 100ms to 1m.", Source: "Fairway",
		}, func(e *Effect, v time.Duration) { e.check.Timeout = v }),

		Enum("health-check-type", Spec{
			Default: "none", Example: "HTTP",
			Doc: "Turns checks on, and says how an endpoint is asked. HTTP: a request. gRPC: the service grpc.health.v1.Health, which must say SERVING. TCP: connecting " +
				"is enough. HTTPS and gRPCS are over TLS; so are HTTP and gRPC on an Ingress with backend-protocol HTTPS or GRPCS, unless another port is asked. Certificates " +
				"are verified, and shown, as proxy-ssl-verify and proxy-ssl-secret of that Ingress say.",
			Source: "Fairway",
		}, []Option[checkType]{
			{Text: "HTTP", Value: checkType{model.CheckHTTP, false}},
			{Text: "HTTPS", Value: checkType{model.CheckHTTP, true}},
			{Text: "gRPC", Value: checkType{model.CheckGRPC, false}},
			{Text: "gRPCS", Value: checkType{model.CheckGRPC, true}},
			{Text: "TCP", Value: checkType{model.CheckTCP, false}},
		}, func(e *Effect, v checkType) { e.check.on, e.check.checkType = true, v }),

		Within("health-check-unhealthy-threshold", "number", Spec{
			Min: 1, Max: 100, Default: "3", Example: "2",
			Doc: "So many checks in a row must fail before an endpoint gets no more requests. One that was not checked so often yet counts as well.", Source: "Fairway",
		}, func(e *Effect, v int) { e.check.Unhealthy = v }),
	),
	finish: (*parser).finishCheck,
}

// checkType is a value of health-check-type.
type checkType struct {
	protocol model.CheckProtocol
	secure   bool
}

// checkDraft is what the keys of the group health-check say.
type checkDraft struct {
	on bool
	checkType
	model.HealthCheck
}

func newCheckDraft() checkDraft {
	return checkDraft{HealthCheck: model.HealthCheck{
		Path: "/", Statuses: []model.StatusRange{{First: 200, Last: 399}}, Interval: 10 * time.Second, Timeout: 5 * time.Second, Healthy: 2, Unhealthy: 3,
	}}
}

func (p *parser) finishCheck() {
	draft := &p.effect.check
	if !p.has("health-check-type") {
		for _, name := range slices.Sorted(maps.Keys(p.given)) {
			if strings.HasPrefix(name, "health-check-") {
				p.without("health-check-type", name)
			}
		}
	}
	if !draft.on {
		return
	}
	check := draft.HealthCheck
	check.Protocol = draft.protocol
	if check.Protocol != model.CheckHTTP {
		p.pointless("health-check-type HTTP or HTTPS", "health-check-path", "health-check-status")
		check.Path, check.Statuses = "", nil
	}
	if check.Protocol != model.CheckGRPC {
		p.pointless("health-check-type gRPC or gRPCS", "health-check-service")
		check.Service = ""
	}
	secure := p.effect.Policy.Protocol == model.HTTPS || p.effect.Policy.Protocol == model.GRPCS
	if draft.secure || secure && check.Port == 0 && check.Protocol != model.CheckTCP {
		check.TLS = &model.CheckTLS{}
	}
	p.effect.Health.Check = &check
}

// pointless reports keys that mean nothing but with a value of another one.
func (p *parser) pointless(leader string, names ...string) {
	for _, name := range names {
		if p.has(name) {
			p.problem(name, model.ReasonInvalidAnnotation, "has no effect but with "+leader)
		}
	}
}

// VerifyCheck makes the check of an Ingress, if it is one over TLS, verify and show certificates as requests do. It is to be called when all Lookups were
// resolved.
func (e *Effect) VerifyCheck() {
	t := e.Policy.UpstreamTLS
	if e.Health.Check == nil || e.Health.Check.TLS == nil || t == nil {
		return
	}
	check := *e.Health.Check
	check.TLS = &model.CheckTLS{CA: t.CA, Verify: t.Verify, Certificate: t.Certificate}
	if name, err := value.CheckHost(string(t.Name)); err == nil { // and has no variables, which only requests fill
		check.TLS.Name = name
	}
	e.Health.Check = &check
}
