// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"maps"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// pluginUse is a plugin that something asks for: one of the pointers of the scope.
type pluginUse struct {
	plugin *model.KongPlugin
	scope
}

// extraPlugin is one that no KongPlugin describes, for a route.
type extraPlugin struct {
	route  *route
	name   string
	config map[string]any
	// closing is that of the plugin that closes the route; others of a closed route are left out.
	closing bool
}

// usable tells whether a plugin can be sent as it is.
func (t *translation) usable(p *model.KongPlugin) bool {
	return p != nil && p.Broken == "" && t.gateway.HasPlugin(p.Plugin)
}

// missing says why what asks for a plugin must be closed, or "". What is not there may have been to keep somebody out.
func (t *translation) missing(a model.KongAttachment, owner model.Ref) (closed string) {
	p := a.Plugin
	switch {
	case p == nil:
		closed = "the plugin " + a.Name + " is missing"
	case p.Broken != "":
		if !entity.ControlsAccess(p.Plugin) {
			return ""
		}
		closed = "the plugin " + a.Name + " is broken"
	case !t.gateway.HasPlugin(p.Plugin):
		consequence := "the routes go without"
		if entity.ControlsAccess(p.Plugin) {
			consequence, closed = "the routes answer 503", "the gateway has no plugin "+p.Plugin
		}
		t.problem(owner, "metadata.annotations[konghq.com/plugins]", model.ReasonUnavailable,
			"the gateway has no plugin %s, which %s asks for; %s", p.Plugin, p.Origin.Ref, consequence)
	}
	if t.options.OpenWithoutPlugin {
		return ""
	}
	return closed
}

// attach notes the plugins that the object of a route and its Service ask for; what cannot be had closes the route.
func (t *translation) attach(r *route) {
	attached := slices.Clone(r.source.Plugins)
	for _, p := range t.kong.GlobalPlugins {
		if !t.usable(p) {
			r.closed = firstOf(r.closed, t.missing(model.KongAttachment{Name: p.Origin.Name, Plugin: p}, p.Origin.Ref))
		}
	}
	for _, a := range attached {
		r.closed = firstOf(r.closed, t.missing(a, r.source.Origin.Ref))
	}
	if s := t.service(r.to); s != nil {
		for _, a := range s.plugins {
			r.closed = firstOf(r.closed, t.missing(a, s.origin.Ref))
		}
	}
	if r.closed != "" {
		return
	}
	for _, a := range attached {
		if t.usable(a.Plugin) {
			t.uses = append(t.uses, pluginUse{a.Plugin, scope{route: r}})
		}
	}
}

func (t *translation) attachToService(e *entity.Service, s *model.KongService) {
	for _, a := range s.Plugins {
		if t.usable(a.Plugin) {
			t.uses = append(t.uses, pluginUse{a.Plugin, scope{service: e}})
		}
	}
}

// attachToConsumer tells whether the consumer may show credentials: not when a plugin that is to hold it back is not there. Closed is why its groups
// keep it from that, or "".
func (t *translation) attachToConsumer(c *consumer, closed string) bool {
	for _, a := range c.source.Plugins {
		closed = firstOf(closed, t.missing(a, c.source.Origin.Ref))
		if t.usable(a.Plugin) {
			t.uses = append(t.uses, pluginUse{a.Plugin, scope{consumer: c.Consumer}})
		}
	}
	if closed != "" {
		t.problem(c.source.Origin.Ref, "credentials", model.ReasonMissingPlugin, "%s; the consumer goes without credentials", closed)
	}
	return closed == ""
}

// scope is for whom a plugin works: its members are ids or nil.
type scope struct {
	route    *route
	service  *entity.Service
	consumer *entity.Consumer
	group    *entity.ConsumerGroup
}

func (s scope) key() string {
	var parts []string
	put := func(name string, e entity.Entity) { parts = append(parts, name+"="+e.Common().ID) }
	if s.route != nil {
		put("route", s.route.Route)
	}
	if s.service != nil {
		put("service", s.service)
	}
	if s.consumer != nil {
		put("consumer", s.consumer)
	}
	if s.group != nil {
		put("group", s.group)
	}
	return strings.Join(parts, ";")
}

func (t *translation) addPlugin(p *model.KongPlugin, s scope, several bool, taken map[string]model.Ref) {
	key := p.Plugin + ":" + s.key()
	if older, clash := taken[key]; clash {
		t.problem(p.Origin.Ref, "plugin", model.ReasonDuplicate,
			"%s is of the same plugin, for the same requests, and older; this one has no effect on them", older)
		return
	}
	taken[key] = p.Origin.Ref
	e := &entity.Plugin{
		Meta: t.meta(entity.Plugins, key, p.Origin, "config", p.Tags), Name: p.Plugin, Config: p.Config, Protocols: p.Protocols,
	}
	if p.InstanceName != "" && t.gateway.Version.AtLeast(3, 2) {
		e.InstanceName = p.InstanceName
		if several {
			e.InstanceName += "-" + digest(s.key())[:9]
		}
	}
	if p.Disabled {
		e.Enabled = ptr(false)
	}
	if t.gateway.Enterprise {
		e.Ordering = p.Ordering
	}
	setScope(e, s)
	if r := s.route; r != nil && s.consumer == nil && s.group == nil {
		t.mergeTransforms(e, r, p)
	}
	t.add(e)
}

// addExtra adds a plugin of the translation's own.
func (t *translation) addExtra(x extraPlugin, taken map[string]model.Ref) {
	if x.route.closed != "" && !x.closing {
		return
	}
	s := scope{route: x.route}
	key := x.name + ":" + s.key()
	if _, clash := taken[key]; clash {
		return // said when it was asked for
	}
	taken[key] = x.route.source.Origin.Ref
	e := &entity.Plugin{Meta: t.meta(entity.Plugins, key, x.route.source.Origin, x.route.Field, nil), Name: x.name, Config: x.config}
	setScope(e, s)
	t.add(e)
}

func setScope(e *entity.Plugin, s scope) {
	if s.route != nil {
		e.Route = entity.RefTo(s.route.Route)
		if isStream(s.route.source) {
			if len(e.Protocols) == 0 {
				e.Protocols = s.route.Protocols
			}
		}
	}
	if s.service != nil {
		e.Service = entity.RefTo(s.service)
	}
	if s.consumer != nil {
		e.Consumer = entity.RefTo(s.consumer)
	}
	if s.group != nil {
		e.ConsumerGroup = entity.RefTo(s.group)
	}
}

// mergeTransforms adds what the route asks for to a transformer that a KongPlugin describes: Kong has no place for two.
func (t *translation) mergeTransforms(e *entity.Plugin, r *route, p *model.KongPlugin) {
	var more map[string]any
	switch e.Name {
	case requestTransformer:
		more = r.request.config()
	case responseTransformer:
		more = r.response.config()
	}
	if more == nil {
		return
	}
	replace, _ := e.Config["replace"].(map[string]any)
	if replace["uri"] != nil && r.request.uri != "" {
		t.problem(r.source.Origin.Ref, "metadata.annotations[konghq.com/rewrite]", model.ReasonDuplicate,
			"%s replaces the URI as well, which is in force; remove one", p.Origin.Ref)
		return
	}
	e.Config = merged(e.Config, more)
}

// merged gives both: records are merged, lists put together, and else b counts.
func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range b {
		switch v := value.(type) {
		case map[string]any:
			old, _ := out[key].(map[string]any)
			out[key] = merged(old, v)
		case []any:
			old, _ := out[key].([]any)
			out[key] = append(slices.Clone(old), v...)
		default:
			out[key] = value
		}
	}
	return out
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
