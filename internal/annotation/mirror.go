// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// mirrorDraft is what the keys of copies say.
type mirrorDraft struct {
	target  *model.URL
	host    model.Template // empty for that of the target
	without bool           // the body
}

var mirror = Group{
	Name: "mirror", Doc: "Sends a copy of each request to another server, whose answers are dropped.", finish: finishMirror,
	Keys: []Key{
		Parsed("mirror-host", "host name with an optional port, or text with variables", Spec{
			Scope: Route, Risk: High, Default: "the host of mirror-target", Example: "copies.example.com",
			Doc:    "The Host header of the copies, and the server name towards an https target.",
			Source: "RFC 9110 section 7.2",
		}, value.HostHeader, func(e *Effect, v model.Template) { e.mirror.host = v }),

		Enum("mirror-request-body", Spec{
			Scope: Route, Risk: Low, Default: "on", Example: "off",
			Doc:    "off sends the copies without the body.",
			Source: "mirror_request_body of ngx_http_mirror_module", Shape: "one for all routes with copies that have no body",
		}, []Option[bool]{{Text: "on", Value: true}, {Text: "off"}}, func(e *Effect, v bool) { e.mirror.without = !v }),

		Parsed("mirror-target", "URL", Spec{
			Scope: Route, Risk: High, Default: "none", Example: "https://copies.example.com$request_uri",
			Doc: "Where the copies go. The path and the query may have nginx variables; $request_uri stands for those of the request. Names are resolved as those of auth-url are. " +
				"A request ends when its copy is answered too, so a slow server there slows the next request of its client on the same connection.",
			Source: "ngx_http_mirror_module", Shape: "one for all routes with copies",
			Differs: "A target that is not accepted makes no copies; there they came back to the host itself. $host is no target, as copies would be copied again, and regular expressions mean nothing.",
		}, value.URL, func(e *Effect, v model.URL) { e.mirror.target = &v }),
	},
}

func finishMirror(p *parser) {
	d := p.effect.mirror
	if d.target == nil {
		p.without("mirror-target", "mirror-request-body", "mirror-host")
		return
	}
	if d.target.Backend.IsZero() {
		p.problem("mirror-target", model.ReasonInvalidAnnotation, "is this proxy itself, which would copy the copies again; no copies are sent")
		return
	}
	copied := &model.Mirror{URL: *d.target, Body: !d.without}
	if d.host != "" {
		copied.URL.Host = d.host
	}
	p.effect.Policy.Mirror = copied
}
