// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// readUpstream finds the KongUpstreamPolicy of a Service, else its KongIngress.
func (r *run) readUpstream(n *notes, s *model.KongService) {
	namespace := s.Origin.Namespace
	policy, override := strings.TrimSpace(n.values["upstream-policy"]), strings.TrimSpace(n.values["override"])
	if policy != "" && override != "" {
		n.problem(n.object, n.field("override"), model.ReasonDuplicate,
			"%supstream-policy is written as well and wins; the KongIngress has no effect", prefix)
		override = ""
	}
	switch {
	case policy != "":
		object := r.findUpstreamPolicy(source.Key{Namespace: namespace, Name: policy})
		if object == nil {
			n.refuse("there is no KongUpstreamPolicy "+policy, n.object, n.field("upstream-policy"), model.ReasonMissingPolicy,
				"there is no KongUpstreamPolicy %.60q in the namespace; requests are spread evenly", policy)
			return
		}
		s.Upstream = look(r, func(r *run) *model.KongUpstream { return r.upstreamOf(object) })
	case override != "":
		object := r.findKongIngress(source.Key{Namespace: namespace, Name: override})
		if object == nil {
			n.problem(n.object, n.field("override"), model.ReasonMissingPolicy,
				"there is no KongIngress %.60q in the namespace; requests are spread evenly", override)
			return
		}
		n.problem(n.object, n.field("override"), model.ReasonDeprecated,
			"KongIngress is outdated; of this one only upstream has an effect, which a KongUpstreamPolicy replaces")
		s.Upstream = look(r, func(r *run) *model.KongUpstream { return r.upstreamOfKongIngress(object) })
	}
}

// upstreamOf reads a policy. What does not fit together is left out and reported.
func (r *run) upstreamOf(object *kongapi.KongUpstreamPolicy) *model.KongUpstream {
	return memoOf(r.memory.upstreams, metav1.Object(object)).get(r, func() *model.KongUpstream { return r.readUpstreamPolicy(object) })
}

func (r *run) readUpstreamPolicy(object *kongapi.KongUpstreamPolicy) *model.KongUpstream {
	u := &model.KongUpstream{Origin: origin("KongUpstreamPolicy", kongapi.Group, "v1beta1", object), Algorithm: object.Spec.Algorithm,
		Slots: object.Spec.Slots}
	ref := u.Origin.Ref
	if !slices.Contains([]string{"", "round-robin", "consistent-hashing", "least-connections", "latency", "sticky-sessions"}, u.Algorithm) {
		r.problem(ref, "spec.algorithm", model.ReasonInvalidSetting, "%.40q is no algorithm; round-robin is in force", u.Algorithm)
		u.Algorithm = ""
	}
	if u.Slots != 0 && (u.Slots < 10 || u.Slots > 65536) {
		r.problem(ref, "spec.slots", model.ReasonInvalidSetting, "%d is not from 10 to 65536; the default is in force", u.Slots)
		u.Slots = 0
	}
	if h := object.Spec.HashOn; h != nil {
		u.HashOn = readHash(h)
	}
	if h := object.Spec.HashOnFallback; h != nil {
		u.HashOnFallback = readHash(h)
	}
	if err := checkHashes(u); err != nil {
		r.problem(ref, "spec.hashOn", model.ReasonInvalidSetting, "%v; nothing is hashed", err)
		u.HashOn, u.HashOnFallback = model.KongHash{}, model.KongHash{}
	}
	if h := object.Spec.Healthchecks; h != nil {
		u.Healthchecks = inKongsWords(h)
	}
	return u
}

func readHash(h *kongapi.Hash) model.KongHash {
	return model.KongHash{Input: h.Input, Header: h.Header, Cookie: h.Cookie, CookiePath: h.CookiePath, QueryArg: h.QueryArg, URICapture: h.URICapture}
}

func checkHashes(u *model.KongUpstream) error {
	fallback := u.HashOnFallback
	fallback.Cookie = ""
	switch {
	case u.HashOn.IsZero() && u.HashOnFallback.IsZero():
		return nil
	case !countsOne(u.HashOn):
		return errors.New("hashOn needs one of input, header, cookie, queryArg and uriCapture")
	case u.Algorithm != "consistent-hashing":
		return errors.New("hashOn needs the algorithm consistent-hashing")
	case u.HashOnFallback.IsZero():
		return nil
	case !countsOne(fallback) || u.HashOnFallback.Cookie != "":
		return errors.New("hashOnFallback needs one of input, header, queryArg and uriCapture")
	case u.HashOn.Cookie != "":
		return errors.New("there can be no hashOnFallback beside a cookie")
	case u.HashOn == u.HashOnFallback:
		return errors.New("hashOnFallback is the same as hashOn")
	}
	return nil
}

func countsOne(h model.KongHash) bool {
	n := 0
	for _, text := range []string{h.Input, h.Header, h.Cookie, h.QueryArg, h.URICapture} {
		if text != "" {
			n++
		}
	}
	return n == 1 && slices.Contains([]string{"", "ip", "consumer", "path", "none"}, h.Input)
}

// inKongsWords gives a record with its members named as Kong names them: httpPath is http_path. The names of headers are not members.
func inKongsWords(record map[string]any) map[string]any {
	out := make(map[string]any, len(record))
	for name, value := range record {
		if inner, ok := value.(map[string]any); ok && name != "headers" {
			value = inKongsWords(inner)
		}
		out[capital.ReplaceAllStringFunc(name, func(c string) string { return "_" + strings.ToLower(c) })] = value
	}
	return out
}

var capital = regexp.MustCompile("[A-Z]")

// replaced are the annotations that stand for the fields of a KongIngress which have no effect any more.
var replaced = map[string]string{
	"proxy.protocol": "konghq.com/protocol", "proxy.path": "konghq.com/path", "proxy.retries": "konghq.com/retries",
	"proxy.connect_timeout": "konghq.com/connect-timeout", "proxy.read_timeout": "konghq.com/read-timeout",
	"proxy.write_timeout": "konghq.com/write-timeout",
	"route.methods":       "konghq.com/methods", "route.headers": "konghq.com/headers.NAME", "route.protocols": "konghq.com/protocols",
	"route.regex_priority": "konghq.com/regex-priority", "route.strip_path": "konghq.com/strip-path", "route.preserve_host": "konghq.com/preserve-host",
	"route.https_redirect_status_code": "konghq.com/https-redirect-status-code", "route.path_handling": "konghq.com/path-handling",
	"route.snis": "konghq.com/snis", "route.request_buffering": "konghq.com/request-buffering",
	"route.response_buffering": "konghq.com/response-buffering",
}

// upstreamOfKongIngress reads the part that still counts.
func (r *run) upstreamOfKongIngress(object *kongapi.KongIngress) *model.KongUpstream {
	return memoOf(r.memory.upstreams, metav1.Object(object)).get(r, func() *model.KongUpstream { return r.readKongIngress(object) })
}

func (r *run) readKongIngress(object *kongapi.KongIngress) *model.KongUpstream {
	u := &model.KongUpstream{Origin: origin("KongIngress", kongapi.Group, "v1", object)}
	ref := u.Origin.Ref
	for part, fields := range map[string]map[string]json.RawMessage{"proxy": object.Proxy, "route": object.Route} {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			instead := "remove it"
			if annotation := replaced[part+"."+name]; annotation != "" {
				instead = "the annotation " + annotation + " replaces it"
			}
			r.problem(ref, part+"."+name, model.ReasonUnsupported, "the field has had no effect since version 3 of the Kong Ingress Controller; %s", instead)
		}
	}
	if len(object.Upstream) == 0 {
		return u
	}
	var raw kongIngressUpstream
	if err := json.Unmarshal(object.Upstream, &raw); err != nil {
		r.problem(ref, "upstream", model.ReasonInvalidSetting, "the fields are not of the types that Kong's upstreams have; they have no effect")
		return u
	}
	u.Algorithm, u.Slots, u.HostHeader, u.Healthchecks = raw.Algorithm, raw.Slots, raw.HostHeader, raw.Healthchecks
	u.HashOn = rawHash(raw.HashOn, raw.HashOnHeader, raw.HashOnCookie, raw.HashOnQueryArg, raw.HashOnURICapture)
	u.HashOn.CookiePath = raw.HashOnCookiePath
	u.HashOnFallback = rawHash(raw.HashFallback, raw.HashFallbackHeader, "", raw.HashFallbackQueryArg, raw.HashFallbackURICapture)
	if !u.HashOn.IsZero() && u.Algorithm == "" {
		u.Algorithm = "consistent-hashing"
	}
	return u
}

// kongIngressUpstream are the fields of an upstream in Kong's words.
type kongIngressUpstream struct {
	Algorithm              string         `json:"algorithm"`
	Slots                  int            `json:"slots"`
	HostHeader             string         `json:"host_header"`
	HashOn                 string         `json:"hash_on"`
	HashOnHeader           string         `json:"hash_on_header"`
	HashOnCookie           string         `json:"hash_on_cookie"`
	HashOnCookiePath       string         `json:"hash_on_cookie_path"`
	HashOnQueryArg         string         `json:"hash_on_query_arg"`
	HashOnURICapture       string         `json:"hash_on_uri_capture"`
	HashFallback           string         `json:"hash_fallback"`
	HashFallbackHeader     string         `json:"hash_fallback_header"`
	HashFallbackQueryArg   string         `json:"hash_fallback_query_arg"`
	HashFallbackURICapture string         `json:"hash_fallback_uri_capture"`
	Healthchecks           map[string]any `json:"healthchecks"`
}

func rawHash(on, header, cookie, queryArg, uriCapture string) model.KongHash {
	switch on {
	case "header":
		return model.KongHash{Header: header}
	case "cookie":
		return model.KongHash{Cookie: cookie}
	case "query_arg":
		return model.KongHash{QueryArg: queryArg}
	case "uri_capture":
		return model.KongHash{URICapture: uriCapture}
	case "ip", "consumer", "path":
		return model.KongHash{Input: on}
	}
	return model.KongHash{}
}
