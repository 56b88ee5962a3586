// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"encoding/json"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// configure gives an upstream what a KongUpstreamPolicy or KongIngress says.
func (t *translation) configure(e *entity.Upstream, u *model.KongUpstream) {
	e.Slots = u.Slots
	if u.HostHeader != "" {
		e.HostHeader = u.HostHeader
	}
	t.setAlgorithm(e, u.Algorithm, u.HashOn, u.HashOnFallback, u.Origin.Ref)
	e.Healthchecks = healthchecks(u.Healthchecks)
}

// setAlgorithm sets how requests are spread. Kong takes an algorithm back when the hash beside it says otherwise, so a hash goes with
// consistent-hashing alone.
func (t *translation) setAlgorithm(e *entity.Upstream, algorithm string, hash, fallback model.KongHash, owner model.Ref) {
	switch {
	case algorithm == "sticky-sessions" && !t.gateway.Enterprise:
		t.problem(owner, "spec.algorithm", model.ReasonUnavailable, "sticky-sessions needs Kong Enterprise; requests are spread evenly")
		algorithm = ""
	case algorithm == "latency" && !t.gateway.Version.AtLeast(3, 2):
		t.problem(owner, "spec.algorithm", model.ReasonUnavailable, "latency needs Kong 3.2; least-connections is in force")
		algorithm = "least-connections"
	}
	e.Algorithm = algorithm
	if algorithm != "consistent-hashing" || hash.IsZero() {
		return
	}
	if (hash.Input == "path" || hash.QueryArg != "" || hash.URICapture != "") && !t.gateway.Version.AtLeast(3, 0) {
		t.problem(owner, "spec.hashOn", model.ReasonUnavailable, "Kong hashes by path, query and captures since 3.0; requests are spread evenly")
		e.Algorithm = ""
		return
	}
	switch {
	case hash.Header != "":
		e.HashOn, e.HashOnHeader = "header", hash.Header
	case hash.Cookie != "":
		e.HashOn, e.HashOnCookie, e.HashOnCookiePath = "cookie", hash.Cookie, hash.CookiePath
	case hash.QueryArg != "":
		e.HashOn, e.HashOnQueryArg = "query_arg", hash.QueryArg
	case hash.URICapture != "":
		e.HashOn, e.HashOnURICapture = "uri_capture", hash.URICapture
	default:
		e.HashOn = hash.Input
	}
	switch {
	case fallback.Header != "":
		e.HashFallback, e.HashFallbackHeader = "header", fallback.Header
	case fallback.QueryArg != "":
		e.HashFallback, e.HashFallbackQueryArg = "query_arg", fallback.QueryArg
	case fallback.URICapture != "":
		e.HashFallback, e.HashFallbackURICapture = "uri_capture", fallback.URICapture
	case fallback.Input != "" && fallback.Input != "none":
		e.HashFallback = fallback.Input
	}
}

// healthchecks reads the checks, which are in Kong's own words.
func healthchecks(words map[string]any) *entity.Healthchecks {
	if words == nil {
		return nil
	}
	h := &entity.Healthchecks{Threshold: float(words["threshold"])}
	if active := record(words["active"]); active != nil {
		h.Active = &entity.ActiveHealthcheck{
			Type: text(active["type"]), Timeout: float(active["timeout"]), Concurrency: integer(active["concurrency"]), HTTPPath: text(active["http_path"]),
			HTTPSVerifyCertificate: boolean(active["https_verify_certificate"]), HTTPSSNI: text(active["https_sni"]),
			Healthy: healthy(record(active["healthy"])), Unhealthy: unhealthy(record(active["unhealthy"])),
		}
		for name, values := range record(active["headers"]) {
			if h.Active.Headers == nil {
				h.Active.Headers = map[string][]string{}
			}
			list, _ := values.([]any)
			for _, v := range list {
				h.Active.Headers[name] = append(h.Active.Headers[name], text(v))
			}
		}
	}
	if passive := record(words["passive"]); passive != nil {
		h.Passive = &entity.PassiveHealthcheck{
			Type: text(passive["type"]), Healthy: healthy(record(passive["healthy"])), Unhealthy: unhealthy(record(passive["unhealthy"])),
		}
	}
	return h
}

func healthy(words map[string]any) *entity.Healthy {
	if words == nil {
		return nil
	}
	return &entity.Healthy{HTTPStatuses: integers(words["http_statuses"]), Interval: float(words["interval"]), Successes: integer(words["successes"])}
}

func unhealthy(words map[string]any) *entity.Unhealthy {
	if words == nil {
		return nil
	}
	return &entity.Unhealthy{
		HTTPFailures: integer(words["http_failures"]), HTTPStatuses: integers(words["http_statuses"]), TCPFailures: integer(words["tcp_failures"]),
		Timeouts: integer(words["timeouts"]), Interval: float(words["interval"]),
	}
}

func record(v any) map[string]any { m, _ := v.(map[string]any); return m }

func text(v any) string { s, _ := v.(string); return s }

func boolean(v any) *bool {
	if b, ok := v.(bool); ok {
		return &b
	}
	return nil
}

func float(v any) *float64 {
	switch n := v.(type) {
	case json.Number:
		if f, err := n.Float64(); err == nil {
			return &f
		}
	case float64:
		return &n
	}
	return nil
}

func integer(v any) *int {
	if f := float(v); f != nil {
		return ptr(int(*f))
	}
	return nil
}

func integers(v any) []int {
	list, _ := v.([]any)
	var numbers []int
	for _, item := range list {
		if n := integer(item); n != nil {
			numbers = append(numbers, *n)
		}
	}
	return numbers
}
