// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package rules holds the dashboard and the alerts of deploy/ against what there is: every query must parse as PromQL and name families that
// docs/metrics.md lists. It is a module of its own for the sake of Prometheus' parser.
package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// families gives the types of the documented families by name.
func families(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\|")
	list := map[string]string{}
	for _, found := range row.FindAllStringSubmatch(string(text), -1) {
		name := found[1]
		if !strings.HasPrefix(name, "fairway_") && !strings.HasPrefix(name, "ingress_controller_") {
			name = "nginx_ingress_controller_" + name
		}
		list[name] = found[2]
	}
	if len(list) < 50 {
		t.Fatalf("docs/metrics.md has %d families", len(list))
	}
	return list
}

// known tells whether a query's name is that of a family, or of a part of a histogram.
func known(families map[string]string, name string) bool {
	if kind := families[name]; kind == "counter" || kind == "gauge" {
		return true
	}
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		if base, found := strings.CutSuffix(name, part); found && families[base] == "histogram" {
			return true
		}
	}
	return name == "up" || strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "go_")
}

func checkQuery(t *testing.T, families map[string]string, where, query string) {
	t.Helper()
	expr, err := newParser().ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v\n%s", where, err, query)
		return
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok && !known(families, v.Name) {
			t.Errorf("%s asks for %q, which is no family of docs/metrics.md", where, v.Name)
		}
		return nil
	})
}

// TestAlerts validates the rules as promtool does.
func TestAlerts(t *testing.T) {
	files, err := filepath.Glob("../../deploy/prometheus/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no rules", err)
	}
	list := families(t)
	for _, file := range files {
		groups, errs := parseRules(file)
		for _, err := range errs {
			t.Errorf("%s: %v", file, err)
		}
		if groups == nil {
			continue
		}
		for _, g := range groups.Groups {
			for _, r := range g.Rules {
				checkQuery(t, list, file+": "+r.Alert+r.Record, r.Expr)
				if r.Alert == "" {
					continue
				}
				if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
					t.Errorf("%s: %s needs a severity, a summary and a description", file, r.Alert)
				}
				if r.For > model.Duration(0) && g.Interval > r.For {
					t.Errorf("%s: %s waits for less than the interval", file, r.Alert)
				}
			}
		}
	}
}

// dashboard is the part of Grafana's format that is looked at.
type dashboard struct {
	UID, Title string
	Panels     []panel
	Templating struct {
		List []struct {
			Name, Type string
			Query      any
		}
	}
}

type panel struct {
	ID          int
	Title, Type string
	Description string
	Targets     []struct{ Expr, RefID string }
	GridPos     struct{ X, Y, W, H int }
	Panels      []panel
}

// grafana fills in what Grafana does before a query is sent.
var grafana = strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$__interval", "1m")

func TestDashboards(t *testing.T) {
	files, err := filepath.Glob("../../deploy/grafana/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no dashboards", err)
	}
	list := families(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if d.UID == "" || d.Title == "" || len(d.Panels) == 0 {
			t.Errorf("%s has no UID, no title or no panels", file)
		}
		for _, v := range d.Templating.List {
			checkVariable(t, list, file, v.Query)
		}
		checkPanels(t, list, file, d.Panels)
	}
}

var ofLabels = regexp.MustCompile(`^label_values\((.+), *\w+\)$`)

func checkVariable(t *testing.T, list map[string]string, file string, query any) {
	t.Helper()
	if m, ok := query.(map[string]any); ok {
		query = m["query"]
	}
	if text, ok := query.(string); ok {
		if found := ofLabels.FindStringSubmatch(text); found != nil {
			checkQuery(t, list, file+": a variable", grafana.Replace(found[1]))
		}
	}
}

func checkPanels(t *testing.T, list map[string]string, file string, panels []panel) {
	t.Helper()
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range panels {
		where := file + ": " + p.Title
		if ids[p.ID] || places[[2]int{p.GridPos.X, p.GridPos.Y}] != "" {
			t.Errorf("%s has the ID or the place of another panel", where)
		}
		ids[p.ID], places[[2]int{p.GridPos.X, p.GridPos.Y}] = true, p.Title
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%s has no query", where)
		}
		for _, target := range p.Targets {
			checkQuery(t, list, where, grafana.Replace(target.Expr))
		}
		checkPanels(t, list, file, p.Panels)
	}
}
