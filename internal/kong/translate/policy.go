// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

const (
	requestTermination  = "request-termination"
	requestTransformer  = "request-transformer"
	responseTransformer = "response-transformer"
)

// transform is what a route has done to its requests or responses.
type transform struct {
	uri          string
	add, replace []string // "Name:value"
}

// config gives the configuration of the plugin; nil for nothing to do.
func (x *transform) config() map[string]any {
	config := map[string]any{}
	replace := map[string]any{}
	if x.uri != "" {
		replace["uri"] = x.uri
	}
	if len(x.replace) > 0 {
		replace["headers"] = texts(x.replace)
	}
	if len(replace) > 0 {
		config["replace"] = replace
	}
	if len(x.add) > 0 {
		config["add"] = map[string]any{"headers": texts(x.add)}
	}
	if len(config) == 0 {
		return nil
	}
	return config
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// applyPolicy gives a route what annotations ask for beyond routing.
func (t *translation) applyPolicy(r *route) {
	if rewrite := r.source.Options.Rewrite; rewrite != "" {
		r.request.uri = rewriteURI(rewrite)
	}
	if to := r.source.Redirect; to != nil {
		t.redirect(r, to)
	}
	if p := r.source.Policy; p != nil {
		d := model.DefaultSettings().Route
		t.applyHost(r)
		t.applyControls(r, p)
		t.applyUpstream(r, p, &d)
		t.applyRequest(r, p, &d)
		t.applyResponse(r, p)
		t.tellUnsupported(r, p, &d)
	}
	for _, x := range []struct {
		name   string
		config map[string]any
	}{{requestTransformer, r.request.config()}, {responseTransformer, r.response.config()}} {
		if x.config == nil || r.closed != "" {
			continue
		}
		if !t.gateway.HasPlugin(x.name) {
			t.problem(r.source.Origin.Ref, "metadata.annotations", model.ReasonUnavailable,
				"the gateway has no plugin %s, which a rewrite and headers need", x.name)
			continue
		}
		// Where a KongPlugin is of that name and for the same route, it gets this as well; see mergeTransforms.
		t.extra = append(t.extra, extraPlugin{route: r, name: x.name, config: x.config})
	}
}

// rewriteURI writes a target in which $1 to $9 stand for groups as the transformer wants it. To that, $( begins an expression in Lua, so what was
// written of the kind is taken apart.
func rewriteURI(target string) string {
	var out strings.Builder
	for i := 0; i < len(target); i++ {
		c := target[i]
		next := byte(0)
		if i+1 < len(target) {
			next = target[i+1]
		}
		switch {
		case c == '\\' && next == '$':
			i++
			out.WriteString("%24")
		case c == '$' && next >= '1' && next <= '9':
			i++
			fmt.Fprintf(&out, "$(uri_captures[%c])", next)
		case c == '$':
			out.WriteString("%24")
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// withCaptures writes the value of a header in which $1 to $9 stand for groups. There is no way to write any other dollar.
func withCaptures(text string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ':
			return "", false
		case c != '$':
			out.WriteByte(c)
		case i+1 < len(text) && text[i+1] >= '1' && text[i+1] <= '9':
			i++
			fmt.Fprintf(&out, "$(uri_captures[%c])", text[i])
		default:
			return "", false
		}
	}
	return out.String(), true
}

// applyRequest is about the request on its way.
func (t *translation) applyRequest(r *route, p, d *model.Policy) {
	if w := p.Rewrite; w != nil {
		r.request.uri = rewriteURI(w.Target)
	}
	if text := p.ForwardedPrefix; text != "" {
		if header, ok := withCaptures(text); ok {
			line := "X-Forwarded-Prefix:" + header
			r.request.replace, r.request.add = append(r.request.replace, line), append(r.request.add, line)
		} else {
			t.unsupported(r, "a forwarded prefix with a dollar", "")
		}
	}
	if p.BodyLimit != d.BodyLimit && p.BodyLimit > 0 {
		t.control(r, "request-size-limiting", map[string]any{"allowed_payload_size": p.BodyLimit, "size_unit": "bytes"})
	}
	if p.Buffers.Request != d.Buffers.Request && r.RequestBuffering == nil {
		r.RequestBuffering = ptr(p.Buffers.Request)
	}
	if p.Buffers.Response != d.Buffers.Response && r.ResponseBuffering == nil {
		r.ResponseBuffering = ptr(p.Buffers.Response)
	}
	sizes := p.Buffers
	sizes.Request, sizes.Response = d.Buffers.Request, d.Buffers.Response
	if sizes != d.Buffers {
		t.unsupported(r, "sizes of buffers", "")
	}
	if p.Redirect != nil {
		t.redirect(r, &model.KongRedirect{Redirect: *p.Redirect})
	}
}

// applyResponse is about the response on its way.
func (t *translation) applyResponse(r *route, p *model.Policy) {
	for _, h := range p.ResponseHeaders {
		line := h.Name + ":" + h.Value
		r.response.replace, r.response.add = append(r.response.replace, line), append(r.response.add, line)
	}
	if c := p.CORS; c != nil {
		t.plugin(r, "cors", t.corsConfig(r, c))
	}
}

// plugin adds a plugin to a route, unless a KongPlugin of that name is attached to it, which counts.
func (t *translation) plugin(r *route, name string, config map[string]any) {
	switch {
	case r.attaches(name):
		t.problem(r.source.Origin.Ref, "metadata.annotations", model.ReasonDuplicate,
			"a KongPlugin of the plugin %s is attached as well, which is in force instead of Fairway's own annotations", name)
	case !t.gateway.HasPlugin(name):
		t.problem(r.source.Origin.Ref, "metadata.annotations", model.ReasonUnavailable,
			"the gateway has no plugin %s, which the annotations need; they have no effect",
			name)
	case r.closed == "":
		t.extra = append(t.extra, extraPlugin{route: r, name: name, config: config})
	}
}

// control is plugin for what must be in force.
func (t *translation) control(r *route, name string, config map[string]any) {
	if r.attaches(name) || !t.gateway.HasPlugin(name) {
		t.problem(r.source.Origin.Ref, "metadata.annotations", model.ReasonUnavailable,
			"the annotations need the plugin %s, which the gateway lacks or a KongPlugin occupies; the routes answer 503", name)
		r.closed = firstOf(r.closed, "no place for the plugin "+name)
		return
	}
	t.plugin(r, name, config)
}

// attaches tells whether a KongPlugin of that name is attached to the route.
func (r *route) attaches(name string) bool {
	return slices.ContainsFunc(r.source.Plugins, func(a model.KongAttachment) bool { return a.Plugin != nil && a.Plugin.Plugin == name })
}

// unsupported reports what Kong has nothing for.
func (t *translation) unsupported(r *route, what, now string) {
	t.unsupportedOf(r.source.Origin.Ref, what, now)
}

func (t *translation) unsupportedOf(owner model.Ref, what, now string) {
	if now == "" {
		now = "it has no effect"
	}
	t.problem(owner, "metadata.annotations", model.ReasonUnsupported, "the Kong data plane has nothing for: %s; %s", what, now)
}

// expressed are the facts of a policy that this package turns into something, or closes the route for.
var expressed = []string{
	"protocol", "body limit", "connect timeout", "send timeout", "read timeout", "retries", "balance", "TLS to backend", "host header", "rewrite",
	"fallback", "relative redirects",
	"forwarded prefix", "redirect", "redirect to HTTPS", "deny", "allow", "limit", "CORS", "response header", "buffers",
	"login", "external auth", "satisfy", "WAF", "snippet", "FastCGI",
}

// tellUnsupported reports all else that was asked for.
func (t *translation) tellUnsupported(r *route, p, d *model.Policy) {
	defaults := map[string]bool{}
	for _, f := range d.Facts() {
		defaults[f.String()] = true
	}
	for _, f := range p.Facts() {
		if !defaults[f.String()] && !slices.Contains(expressed, f.Name) {
			t.unsupported(r, f.Name, "")
		}
	}
}

func milliseconds(d time.Duration) int { return int(d / time.Millisecond) }

// service protocols by Kong's names.
func (t *translation) protocolOf(p model.Protocol) (name string, ok bool) {
	switch p {
	case model.HTTP:
		return "", true
	case model.HTTPS:
		return "https", true
	case model.GRPC:
		return "grpc", true
	case model.GRPCS:
		return "grpcs", true
	}
	return "", false
}
