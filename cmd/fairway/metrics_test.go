// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/model"
)

// family is what a scrape says of one family.
type family struct {
	kind   string
	labels map[string]bool
	series int
}

// signature is the type and the sorted labels, "-" for none.
func (f *family) signature() string {
	labels := strings.Join(slices.Sorted(maps.Keys(f.labels)), ",")
	if labels == "" {
		labels = "-"
	}
	return f.kind + " " + labels
}

var (
	sample    = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? [^ ]+$`)
	labelName = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="(?:[^"\\]|\\.)*"`)
)

// parseFamilies reads the text format; of histograms the bucket label is left out.
func parseFamilies(t *testing.T, text string) map[string]*family {
	t.Helper()
	families := map[string]*family{}
	var name string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, found := strings.CutPrefix(line, "# TYPE "); found {
			var kind string
			name, kind, _ = strings.Cut(rest, " ")
			families[name] = &family{kind: kind, labels: map[string]bool{}}
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := sample.FindStringSubmatch(line)
		if parts == nil || !strings.HasPrefix(parts[1], name) {
			t.Fatalf("no sample of %s: %q", name, line)
		}
		families[name].series++
		for _, label := range labelName.FindAllStringSubmatch(parts[2], -1) {
			if label[1] != "le" && label[1] != "quantile" {
				families[name].labels[label[1]] = true
			}
		}
	}
	return families
}

// webhookAndLeader gives the families of parts that run only with an API server, with TCP or UDP services, or with endpoints that are not well.
func webhookAndLeader(t *testing.T) map[string]*family {
	t.Helper()
	out := model.HealthReport{Out: []model.EndpointHealth{{Backend: model.BackendID{Namespace: "a", Service: "b", Port: "80"}}}}
	m := metrics.New(metrics.Options{
		Requests: metrics.DefaultRequestOptions(), Health: func(context.Context) (model.HealthReport, error) { return out, nil },
	})
	admission := m.Admission()
	admission.Review(metrics.Review{Namespace: "a", Ingress: "b", Accepted: true})
	admission.Review(metrics.Review{Namespace: "a", Ingress: "b"})
	m.Leadership("lease")(true)
	m.StatusWrites(func() int { return 0 })(nil)
	m.Register(metrics.NewStreams(func() []model.StreamTraffic {
		return []model.StreamTraffic{{Listener: &model.Listener{Transport: model.UDP, Port: 1, Backend: &model.Backend{}}}}
	}))
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	families := parseFamilies(t, recorder.Body.String())
	maps.DeleteFunc(families, func(name string, _ *family) bool {
		return !strings.Contains(name, "_admission_") && !strings.Contains(name, "_check_") && !strings.Contains(name, "_leader_") && !strings.Contains(name, "_status_") &&
			!strings.Contains(name, "_stream_") && !strings.Contains(name, "_health_")
	})
	return families
}

const lonely = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: lonely, namespace: shop}
spec: {rules: [{host: lonely.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: gone, port: {number: 80}}}}]}}]}
`

// scraped runs a controller with real nginx and some traffic, and gives what it says of itself.
func scraped(t *testing.T, arguments ...string) map[string]*family {
	t.Helper()
	dir := needsNginx(t)
	t.Setenv("POD_NAME", "fairway-0")
	served(t, dir, answering(t, "hello"))
	if err := os.WriteFile(filepath.Join(dir, "objects", "lonely.yaml"), []byte(lonely), 0o644); err != nil {
		t.Fatal(err)
	}
	p := startProgram(t, dir, arguments...)
	t.Cleanup(func() {
		_ = p.command.Process.Signal(syscall.SIGTERM) // ended already: the test has failed
		if err := p.command.Wait(); err != nil {
			t.Errorf("%v: %s", err, p.log)
		}
	})
	eventually(t, "the route answers", func() bool {
		status, body := get(p.http, "shop.example", "/")
		return status == http.StatusOK && body == "hello"
	})
	var text string
	eventually(t, "nginx answers a scrape, and the request is counted", func() bool {
		_, text = get(p.own, "", "/metrics")
		counted := !slices.Contains(arguments, "--enable-metrics") || strings.Contains(text, prefixed("requests{"))
		return counted && strings.Contains(text, "\nfairway_shapes ")
	})
	return parseFamilies(t, text)
}

func prefixed(name string) string { return "nginx_ingress_controller_" + name }

// TestMetricNames compares what a running controller shows with the predecessor's inventory, both ways, and with docs/metrics.md.
func TestMetricNames(t *testing.T) {
	running := scraped(t, "--enable-metrics")
	maps.Copy(running, webhookAndLeader(t))
	listed := map[string]string{}
	text, err := os.ReadFile("testdata/predecessor-metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); words[0] != "#" {
			listed[words[1]] = words[2] + " " + words[3]
		}
	}
	for name, want := range listed {
		switch f := running[name]; {
		case f == nil:
			t.Errorf("%s is not there", name)
		case f.signature() != want:
			t.Errorf("%s is %s, want %s", name, f.signature(), want)
		}
	}
	documented := documentedFamilies(t)
	maps.DeleteFunc(documented, func(name string, _ string) bool { return ofKong(name) })
	for name, f := range running {
		if strings.HasPrefix(name, prefixed("")) && listed[name] == "" {
			t.Errorf("%s is no family of the predecessor", name)
		}
		if strings.HasPrefix(name, prefixed("")) || strings.HasPrefix(name, "fairway_") {
			if documented[name] != f.signature() {
				t.Errorf("docs/metrics.md says of %s %q, it is %q", name, documented[name], f.signature())
			}
		}
	}
	for name := range documented {
		if running[name] == nil {
			t.Errorf("docs/metrics.md has %s, which is not there", name)
		}
	}
}

// TestNoMetrics is the other side of --enable-metrics.
func TestNoMetrics(t *testing.T) {
	for name := range scraped(t) {
		if strings.HasPrefix(name, prefixed("")) {
			t.Errorf("%s is there without --enable-metrics", name)
		}
	}
}

// documentedFamilies reads the tables of docs/metrics.md: name, type and labels. The words "controller" and "request" stand for several labels.
func documentedFamilies(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string][]string{
		"controller": {"controller_namespace", "controller_class", "controller_pod"},
		"request":    {"status", "method", "path", "namespace", "ingress", "service", "canary", "host"},
	}
	documented := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		f := &family{kind: strings.TrimSpace(cells[2]), labels: map[string]bool{}}
		for _, word := range strings.FieldsFunc(cells[3], func(r rune) bool { return strings.ContainsRune(" ,`", r) }) {
			if groups[word] == nil {
				f.labels[word] = true
			}
			for _, label := range groups[word] {
				f.labels[label] = true
			}
		}
		name := strings.Trim(strings.TrimSpace(cells[1]), "`")
		if !strings.HasPrefix(name, "fairway_") && !ofKong(name) {
			name = prefixed(name)
		}
		documented[name] = f.signature()
	}
	return documented
}
