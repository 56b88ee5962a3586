// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/state"
)

func TestPlan(t *testing.T) {
	one, two := model.NewEndpoint(netip.MustParseAddrPort("10.0.0.1:80")), model.NewEndpoint(netip.MustParseAddrPort("10.0.0.2:80"))
	for name, test := range map[string]struct {
		change func(*model.Model)
		want   string
	}{
		"nothing":   {func(*model.Model) {}, ""},
		"endpoint":  {func(m *model.Model) { m.Backends[0].Endpoints = []model.Endpoint{two} }, "set b:ns/svc/80\n"},
		"host gone": {func(m *model.Model) { m.Hosts = m.Hosts[:1] }, "delete h:a.example\n"},
		"path":      {func(m *model.Model) { m.Hosts[1].Matches[0].Path = "/p/" }, "set h:a.example\n"},
		"timeouts":  {func(m *model.Model) { m.Hosts[1].Matches[0].Route.Policy.Timeouts.Read *= 2 }, "set h:a.example\n"},
		"rewrite": {func(m *model.Model) {
			m.Hosts[1].Matches[0].Route.Policy.Rewrite = &model.Rewrite{Pattern: "/", Target: "/x"}
		}, "set h:a.example\n"},
		"closed":   {func(m *model.Model) { m.Hosts[1].Matches[0].Route.Closed = "because" }, "set h:a.example\n"},
		"protocol": {func(m *model.Model) { m.Hosts[1].Matches[0].Route.Policy.Protocol = model.GRPC }, "reload: Shape\nset h:a.example\n"},
		"least_conn": {func(m *model.Model) {
			m.Hosts[1].Matches[0].Route.Policy.Balance = &model.Balance{Algorithm: model.LeastConn}
		}, "reload: Balance\nset h:a.example\n"},
		"random": {func(m *model.Model) {
			m.Hosts[1].Matches[0].Route.Policy.Balance = &model.Balance{Algorithm: model.Random}
		}, "set h:a.example\n"},
		"body limit":   {func(m *model.Model) { m.Hosts[1].Matches[0].Route.Policy.BodyLimit = 9 }, "reload: Shape\nset h:a.example\n"},
		"setting":      {func(m *model.Model) { m.Settings.ServerTokens = true }, "reload: Settings\n"},
		"live setting": {func(m *model.Model) { m.Settings.HTTPSRedirectCode = 301 }, "set g:settings\n"},
		"certificate": {func(m *model.Model) {
			m.Certificates = []*model.Certificate{{ID: "id"}}
			m.ServerNames = []model.ServerName{{Name: "a.example", Certificates: []model.CertificateID{"id"}}}
		}, "set c:id\nset s:a.example\n"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := newModel(one), newModel(one)
			test.change(after)
			now := conf.Config{Settings: before.Settings, Shapes: conf.Needed(before.Hosts, &before.Settings)}
			plan := newPlan(now, files{}, state.Compare(state.Encode(before), before, after), before, after)
			if diff := cmp.Diff(test.want, plan.String()); diff != "" {
				t.Error(diff)
			}
			if plan.Empty() != (test.want == "") {
				t.Errorf("Empty is %v", plan.Empty())
			}
		})
	}
}

func TestPlanOfTheStart(t *testing.T) {
	m := newModel()
	plan := newPlan(conf.Config{}, files{}, state.Compare(nil, nil, m), nil, m)
	if !plan.Reload || strings.Join(plan.Reasons, " ") != ReasonStart || len(plan.Changes) == 0 {
		t.Errorf("plan %v", plan)
	}
}

// A shape that is no longer needed stays: dropping it would be a reload.
func TestPlanKeepsShapes(t *testing.T) {
	m := newModel()
	now := conf.Config{Settings: m.Settings, Shapes: conf.Needed(m.Hosts, &m.Settings)}
	now.Shapes[conf.Shape{Protocol: model.GRPC}] = conf.Parts{}
	if plan := newPlan(now, files{}, nil, nil, m); plan.Reload {
		t.Errorf("reload because of %v", plan.Reasons)
	}
}

// With a reload for another reason they go, or tenants could make the configuration grow without end.
func TestPlanDropsShapes(t *testing.T) {
	last, m := newModel(), newModel()
	last.Hosts[1].Matches[0].Route.Policy.BodyLimit = 8
	m.Hosts[1].Matches[0].Route.Policy.BodyLimit = 9
	now := conf.Config{Settings: m.Settings, Shapes: conf.Needed(last.Hosts, &last.Settings)}
	now.Shapes[conf.Shape{Protocol: model.GRPC}] = conf.Parts{}
	want := conf.Needed(m.Hosts, &m.Settings)
	want.Add(conf.Needed(last.Hosts, &last.Settings))
	if diff := cmp.Diff(want.Sorted(), newPlan(now, files{}, nil, last, m).Config.Shapes.Sorted()); diff != "" {
		t.Error(diff)
	}
}

func TestOlder(t *testing.T) {
	for version, want := range map[string]bool{"1.22.1": true, "1.25.0": true, "1.25.1": false, "1.27": false, "2.0.0": false, "1.9.15": true} {
		if got := older(version, 1, 25, 1); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}

// A reload for another reason drops the shapes that neither the old nor the new model needs.
func TestReloadDropsShapes(t *testing.T) {
	before, after := newModel(), newModel()
	before.Hosts[1].Matches[0].Route.Policy.BodyLimit = 7
	after.Hosts[1].Matches[0].Route.Policy.BodyLimit = 9
	stale := conf.Shape{Protocol: model.GRPC, BodyLimit: 5}
	now := conf.Config{Settings: before.Settings, Shapes: conf.Needed(before.Hosts, &before.Settings)}
	now.Shapes[stale] = conf.Parts{}
	plan := newPlan(now, files{}, nil, before, after)
	for shape, want := range map[conf.Shape]bool{stale: false, {BodyLimit: 7}: true, {BodyLimit: 9}: true} {
		if _, found := plan.Config.Shapes[shape]; found != want {
			t.Errorf("%s is there: %v, want %v", shape.Name(), found, want)
		}
	}
	if _, found := newPlan(now, files{}, nil, nil, after).Config.Shapes[stale]; !found {
		t.Error("a shape is dropped that nginx may still need")
	}
}
