// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
)

// checkSnippets lets nginx test each raw configuration of a model that it has not tested yet, each alone in an otherwise plain configuration, so that a bad
// one is known by name. The error is a *model.RefusedError when there are any.
func (d *Driver) checkSnippets(ctx context.Context, m *model.Model) error {
	refused := &model.RefusedError{Snippets: map[model.Snippet]string{}}
	for _, host := range changedHosts(d.last, m) {
		if host.Snippet != "" {
			d.judge(ctx, host.Snippet, m, refused, &model.Host{Name: "snippet.invalid", Snippet: host.Snippet}, nil)
		}
		for _, match := range host.Matches {
			for _, alone := range routesWithOneSnippet(match.Route) {
				d.judge(ctx, alone.snippet, m, refused, &model.Host{Name: "snippet.invalid", Matches: []model.Match{{Path: "/", Route: alone.route}}}, nil)
			}
		}
	}
	for _, s := range m.Streams {
		d.judge(ctx, s, m, refused, nil, []model.Snippet{s})
	}
	if len(refused.Snippets) > 0 {
		return refused
	}
	return nil
}

type lone struct {
	route   *model.Route
	snippet model.Snippet
}

// routesWithOneSnippet gives, for each snippet of a route, a plain route with it.
func routesWithOneSnippet(r *model.Route) []lone {
	var list []lone
	add := func(s model.Snippet, put func(p *model.Policy)) {
		if s == "" {
			return
		}
		alone := &model.Route{Policy: model.Policy{Protocol: r.Policy.Protocol, BodyLimit: r.Policy.BodyLimit, Timeouts: r.Policy.Timeouts, Buffers: r.Policy.Buffers, Retries: r.Policy.Retries}}
		put(&alone.Policy)
		list = append(list, lone{alone, s})
	}
	add(r.Policy.Snippet, func(p *model.Policy) { p.Snippet = r.Policy.Snippet })
	if w := r.Policy.WAF; w != nil {
		add(w.Rules, func(p *model.Policy) { p.WAF = w })
	}
	if a := r.Policy.ExternalAuth; a != nil {
		add(a.Snippet, func(p *model.Policy) { p.ExternalAuth = a })
	}
	return list
}

// judge tests a snippet in a configuration with just that host, unless it was tested before, and notes it among the refused.
func (d *Driver) judge(ctx context.Context, s model.Snippet, m *model.Model, refused *model.RefusedError, host *model.Host, streams []model.Snippet) {
	verdict, known := d.verdicts[s]
	if !known {
		var hosts []*model.Host
		if host != nil {
			hosts = []*model.Host{host}
		}
		config := conf.Config{
			Place: d.config.Place, Settings: m.Settings, Shapes: conf.Needed(hosts, &m.Settings), Servers: conf.ServersOf(hosts), Streams: streams,
			ZoneBytes: minZoneBytes, Modules: d.config.Modules,
		}
		text, _ := config.Render()
		path := filepath.Join(d.config.Place.Dir, "snippet.conf")
		err := errors.Join(writeFiles(config), writeFile(path, text))
		if err == nil {
			err = process.Test(ctx, d.command, path)
		}
		if ctx.Err() != nil {
			return // no verdict
		}
		if err != nil {
			verdict = err.Error()
		}
		d.verdicts[s] = verdict
	}
	if verdict != "" {
		refused.Snippets[s] = verdict
	}
}
