// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/state"
)

// Reasons of a reload.
const (
	ReasonStart    = "Start"    // the first configuration of this controller
	ReasonShape    = "Shape"    // a route needs a shape that was never seen before
	ReasonSettings = "Settings" // the admin changed a setting that nginx reads only from its configuration
	ReasonSnippet  = "Snippet"  // raw configuration of a host, or of the stream block, changed
	ReasonDatabase = "Database" // another database for GeoIP
	ReasonTemplate = "Template" // the admin's template of nginx.conf changed
	ReasonZoneFull = "ZoneFull" // the state has outgrown its shared memory
	ReasonBalance  = "Balance"  // a route is the first to balance by requests in flight
)

// Plan is what has to be done to bring a model into force.
type Plan struct {
	// Changes are sent as data.
	Changes []state.Change
	// Config is the configuration that has to be in force before Changes are sent; Reload tells whether that is another than now, Reasons why.
	Config  conf.Config
	Reload  bool
	Reasons []string
}

// Empty tells whether there is nothing to do.
func (p Plan) Empty() bool { return len(p.Changes) == 0 && !p.Reload }

// String lists the changes, a line each, and the reload.
func (p Plan) String() string {
	var out strings.Builder
	if p.Reload {
		fmt.Fprintf(&out, "reload: %s\n", strings.Join(p.Reasons, ", "))
	}
	for _, c := range p.Changes {
		if c.Delete {
			fmt.Fprintf(&out, "delete %s\n", c.Key)
		} else {
			fmt.Fprintf(&out, "set %s\n", c.Key)
		}
	}
	return out.String()
}

// files are what configurations are made of besides models. Equal templates are one pointer.
type files struct {
	databases map[string]conf.Database // for GeoIP, by edition
	template  *conf.Template           // nil for the built-in one
}

// newPlan says what the changes to the entries that lead from the model last, nil when nginx may not have all of it, to m, and the shapes and
// settings of m, need. Shapes once in use stay until the next reload, whatever its reason, because dropping one would cost a reload of its own.
func newPlan(now conf.Config, files files, changes []state.Change, last, m *model.Model) Plan {
	p := Plan{Changes: changes, Config: now}
	changed := changedHosts(last, m)
	needed := conf.Needed(changed, &m.Settings)
	servers := conf.ServersOf(m.Hosts)
	add := func(reason string) { p.Reload, p.Reasons = true, append(p.Reasons, reason) }
	if now.Shapes == nil {
		add(ReasonStart)
	} else {
		if !now.Shapes.Contains(needed) || !now.Outliers && hasOutliers(m) {
			add(ReasonShape)
		}
		if !now.InFlight && countsRequests(changed, &m.Settings) {
			add(ReasonBalance)
		}
		if !sameConfiguration(now, m.Settings) {
			add(ReasonSettings)
		}
		if m.Settings.Worker.ZoneBytes > now.ZoneBytes {
			add(ReasonSettings)
		}
		if m.Settings.GeoIP.On && !maps.Equal(now.Databases, files.databases) && !sameDatabases(now, files.databases, m.Settings) {
			add(ReasonDatabase)
		}
		if now.Template != files.template {
			add(ReasonTemplate)
		}
		if !reflect.DeepEqual(now.Servers, servers) || !slices.Equal(now.Streams, m.Streams) {
			add(ReasonSnippet)
		}
	}
	if p.Reload {
		p.Config.Settings, p.Config.Servers, p.Config.Streams = m.Settings, servers, m.Streams
		p.Config.Databases, p.Config.Template, p.Config.Outliers = files.databases, files.template, hasOutliers(m)
		p.Config.ZoneBytes = max(now.ZoneBytes, m.Settings.Worker.ZoneBytes)
		p.Config.Shapes = conf.Needed(m.Hosts, &m.Settings)
		p.Config.InFlight = countsRequests(m.Hosts, &m.Settings)
		// Routes of the old state are served until Changes are in.
		if last == nil {
			p.Config.Shapes.Add(now.Shapes)
			p.Config.InFlight = p.Config.InFlight || now.InFlight
		} else {
			p.Config.Shapes.Add(conf.Needed(last.Hosts, &last.Settings))
			p.Config.InFlight = p.Config.InFlight || countsRequests(last.Hosts, &last.Settings)
		}
	}
	slices.Sort(p.Reasons)
	p.Reasons = slices.Compact(p.Reasons)
	return p
}

// countsRequests tells whether something balances by requests in flight.
func countsRequests(hosts []*model.Host, settings *model.Settings) bool {
	return settings.Route.Balance.CountsRequests() || slices.ContainsFunc(hosts, func(h *model.Host) bool {
		return slices.ContainsFunc(h.Matches, func(m model.Match) bool { return m.Route.CountsRequests() })
	})
}

// hasOutliers tells whether a backend ejects endpoints, so that requests must be observed.
func hasOutliers(m *model.Model) bool {
	return slices.ContainsFunc(m.Backends, func(b *model.Backend) bool { return b.Health != nil && b.Health.Outlier != nil })
}

// changedHosts gives the hosts of m that are no part of last: the shapes of all others are in force.
func changedHosts(last, m *model.Model) []*model.Host {
	if last == nil || !reflect.DeepEqual(last.Settings, m.Settings) {
		return m.Hosts
	}
	var changed []*model.Host
	old := last.Hosts
	for _, h := range m.Hosts {
		for len(old) > 0 && old[0].Name < h.Name {
			old = old[1:]
		}
		if len(old) == 0 || old[0] != h {
			changed = append(changed, h)
		}
	}
	return changed
}

// sameConfiguration tells whether other settings would be the same nginx.conf: compared as bytes, so that no setting can be forgotten.
func sameConfiguration(now conf.Config, settings model.Settings) bool {
	if reflect.DeepEqual(now.Settings, settings) {
		return true // spares the rendering
	}
	then := now
	then.Settings = settings
	return sameText(now, then)
}

// sameDatabases tells whether other databases would be the same nginx.conf, as they are when workers look for them by themselves.
func sameDatabases(now conf.Config, databases map[string]conf.Database, settings model.Settings) bool {
	now.Settings = settings
	then := now
	then.Databases = databases
	return sameText(now, then)
}

func sameText(now, then conf.Config) bool {
	_, a := now.Render()
	_, b := then.Render()
	return a == b
}
