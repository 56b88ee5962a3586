// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var raw = Group{
	Name: "raw",
	Doc: "Raw nginx configuration of the admin. nginx tests it first: what it refuses is a Problem, and what stood there before stays in force. " +
		"Without a before, as at the start, the others are used without it, and a refused global-auth-snippet or modsecurity-snippet closes every route.",
	Keys: []Key{
		rawPart("global-auth-snippet", "proxy_set_header X-Asked-By fairway;", "The location that asks the server of global-auth-url.", "global-auth-url",
			func(r *model.Raw) *model.Snippet { return &r.Auth }),
		rawPart("http-snippet", "more_set_headers 'X-Http: 1';", "The http block.", "", func(r *model.Raw) *model.Snippet { return &r.HTTP }),
		rawPart("location-snippet", "more_set_headers 'X-Location: 1';",
			"Every location that leads to a backend. Routes with needs of their own have two: directives that act at once, such as return, act in the first.", "",
			func(r *model.Raw) *model.Snippet { return &r.Location }),
		rawPart("main-snippet", "env TZ;", "The outermost block.", "", func(r *model.Raw) *model.Snippet { return &r.Main }),
		Parsed("modsecurity-snippet", "rules of ModSecurity", Spec{
			Default: none, Example: "SecRuleEngine On", Reload: true, With: "enable-modsecurity",
			Doc: "Rules in place of the recommended ones where ModSecurity runs and no annotation has others.",
		}, value.Rules, func(d *draft, v model.Snippet) { d.Raw.Rules = v }),
		rawPart("server-snippet", "more_set_headers 'X-Server: 1';", "Every server.", "", func(r *model.Raw) *model.Snippet { return &r.Server }),
		rawPart("stream-snippet", "limit_conn_zone $binary_remote_addr zone=sessions:1m;", "The stream block.", "", func(r *model.Raw) *model.Snippet { return &r.Stream }),
	},
}

func rawPart(name, example, where, with string, field func(r *model.Raw) *model.Snippet) Key {
	return Parsed(name, "nginx directives", Spec{Default: none, Example: example, Reload: true, With: with, Doc: where}, value.AdminSnippet,
		func(d *draft, v model.Snippet) { *field(&d.Raw) = v })
}
