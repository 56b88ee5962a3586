// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestNotes holds that a value without effect is answered, and one with an effect is not.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{"", "! Of the values"},
		{"controller: {image: {chroot: true}}", "controller.image.chroot has no effect: there is one image"},
		{"controller: {image: {tag: v1.12.1}}", "controller.image names an image of ingress-nginx"},
		{"controller: {image: {repository: mirror.example/ingress-nginx/controller}}", "controller.image names an image of ingress-nginx"},
		{"controller: {image: {repository: mirror.example/fairway, tag: 0.1.0}}", "! Of the values"},
		{"controller: {enableMimalloc: true}", "controller.enableMimalloc has no effect"},
		{"controller: {enableMimalloc: false}", "! Of the values"},
		{"controller: {admissionWebhooks: {patch: {enabled: true}}}", "controller.admissionWebhooks.patch has no effect: the controller makes its certificate itself"},
		{"controller: {customTemplate: {configMapName: t, configMapKey: k}}", "controller.customTemplate must be a template for Fairway"},
		{"controller: {extraModules: [{name: otel}]}", "controller.extraModules has no effect"},
		{"podSecurityPolicy: {enabled: true}", "podSecurityPolicy has no effect"},
		{"controller: {replicacount: 3}", "controller.replicacount is not known, and has no effect"},
		{"contoller: {replicaCount: 3}", "contoller is not known, and has no effect"},
		{"controller: {service: {internal: {enabled: true}}}", "controller.service.internal.enabled has no effect without"},
		{"controller: {kind: DaemonSet, autoscaling: {enabled: true}}", "have no effect on a DaemonSet"},
		{"controller: {metrics: {serviceMonitor: {enabled: true}}}", "have no effect without controller.metrics.enabled"},
		{"{kong: {enabled: true}, tcp: {'22': a/b:22}}", "tcp has no effect with kong.enabled: TCPIngresses say"},
		{"{kong: {enabled: true}, controller: {hostPort: {enabled: true}}}", "controller.hostPort.enabled has no effect with kong.enabled"},
		{"kong: {enabled: true}", "! Of the values"},
		{"kong: {enabled: true}", "The gateways are those of http://localhost:8001"},
		{"kong: {enabled: true, admin: {service: kong/admin}}", "The gateways are those of the Service kong/admin"},
		{"kong: {enabled: true}", "ingressClassName: kong"},
	} {
		notes := mustRender(t, release, values(t, c.values)).notes
		unwanted, negated := strings.CutPrefix(c.want, "! ")
		if negated && strings.Contains(notes, unwanted) || !negated && !strings.Contains(notes, c.want) {
			t.Errorf("%q: notes are expected to say %q:\n%s", c.values, c.want, notes)
		}
	}
}

// TestKnownValues compares the names that the chart knows with values.yaml and the schema, both ways.
func TestKnownValues(t *testing.T) {
	text, err := os.ReadFile(chartDir + "/templates/_remarks.tpl")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), `{{- define "fairway.known" -}}`)
	block, _, _ = strings.Cut(block, "{{- end -}}")
	var known map[string][]string
	if err := yaml.Unmarshal([]byte(block), &known); err != nil {
		t.Fatal(err)
	}
	_, block, _ = strings.Cut(string(text), `{{- define "fairway.unused" -}}`)
	block, _, _ = strings.Cut(block, "{{- end -}}")
	var unused map[string]string
	if err := yaml.Unmarshal([]byte(block), &unused); err != nil {
		t.Fatal(err)
	}
	schema := readValues(t, chartDir+"/values.schema.json")["properties"].(map[string]any)
	top := readValues(t, chartDir+"/values.yaml")
	for _, c := range []struct {
		path, prefix   string
		values, schema map[string]any
	}{
		{"top", "", top, schema},
		{"controller", "controller.", top["controller"].(map[string]any), schema["controller"].(map[string]any)["properties"].(map[string]any)},
	} {
		for _, key := range known[c.path] {
			_, isValue := c.values[key]
			isUnused := slices.ContainsFunc(slices.Collect(maps.Keys(unused)), func(u string) bool {
				return u == c.prefix+key || strings.HasPrefix(u, c.prefix+key+".")
			})
			if !isValue && !isUnused {
				t.Errorf("%s%s is known, but not in values.yaml nor answered as without effect", c.prefix, key)
			}
		}
		for key := range c.values {
			if !slices.Contains(known[c.path], key) {
				t.Errorf("%s%s is in values.yaml, but the notes would call it unknown", c.prefix, key)
			}
			if _, found := c.schema[key]; !found && key != "hostname" {
				t.Errorf("%s%s is in values.yaml, but not in values.schema.json", c.prefix, key)
			}
		}
		for key := range c.schema {
			if _, found := c.values[key]; !found {
				t.Errorf("%s%s is in values.schema.json, but not in values.yaml", c.prefix, key)
			}
		}
	}
}

// TestImages holds where images come from.
func TestImages(t *testing.T) {
	for text, want := range map[string]string{
		"": "fairway-ingress/fairway:0.1.0",
		"global: {image: {registry: mirror.example}}":                                                         "mirror.example/fairway-ingress/fairway:0.1.0",
		"controller: {image: {registry: mirror.example/x}}":                                                   "mirror.example/x/fairway-ingress/fairway:0.1.0",
		"controller: {image: {repository: mirror.example/fairway, tag: '2', digest: 'sha256:12'}}":            "mirror.example/fairway:2@sha256:12",
		"controller: {image: {registry: registry.k8s.io, tag: v1.12.1, digest: 'sha256:12'}}":                 "fairway-ingress/fairway:0.1.0",
		"controller: {image: {registry: mirror.example, image: ingress-nginx/controller, digest: sha256:12}}": "mirror.example/fairway-ingress/fairway:0.1.0",
	} {
		for _, a := range mustRender(t, release, values(t, text)).objects {
			if a.GetKind() != "Deployment" {
				continue
			}
			if got := container(t, a)["image"]; got != want {
				t.Errorf("%q: image %s, want %s", text, got, want)
			}
		}
	}
}
