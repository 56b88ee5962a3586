// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLint(t *testing.T) {
	for name, v := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			for _, m := range lint.RunAll(chartDir, v, namespace).Messages {
				if m.Severity > support.InfoSev {
					t.Error(m)
				}
			}
		})
	}
}

// TestPlainInstall says what an installation without values is.
func TestPlainInstall(t *testing.T) {
	want := []string{
		"ClusterRole fairway", "ClusterRole fairway-admission", "ClusterRoleBinding fairway", "ClusterRoleBinding fairway-admission",
		"ConfigMap fairway-controller", "Deployment fairway-controller", "IngressClass nginx",
		"Role fairway", "Role fairway-admission", "RoleBinding fairway", "RoleBinding fairway-admission", "Service fairway-controller", "Service fairway-controller-admission", "ServiceAccount fairway",
		"ValidatingWebhookConfiguration fairway-admission",
	}
	if got := mustRender(t, release, nil).list(); !slices.Equal(got, want) {
		t.Errorf("objects:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestKeepsThePredecessorsNames is what an upgrade of a release of ingress-nginx in place rests on: selectors cannot be changed, and a Service
// of the same name keeps its address.
func TestKeepsThePredecessorsNames(t *testing.T) {
	r := mustRender(t, "ingress-nginx", nil)
	d := r.find("Deployment", "ingress-nginx-controller")
	if d == nil {
		t.Fatalf("objects: %v", r.list())
	}
	selector, _, _ := unstructured.NestedStringMap(d.Object, "spec", "selector", "matchLabels")
	for key, want := range map[string]string{
		"app.kubernetes.io/name": "ingress-nginx", "app.kubernetes.io/instance": "ingress-nginx", "app.kubernetes.io/component": "controller",
	} {
		if selector[key] != want || len(selector) != 3 {
			t.Errorf("selector %v, want %s=%s", selector, key, want)
		}
	}
	for _, name := range []string{"Service ingress-nginx-controller", "ConfigMap ingress-nginx-controller", "ServiceAccount ingress-nginx"} {
		if !slices.Contains(r.list(), name) {
			t.Errorf("no %s in %v", name, r.list())
		}
	}
}

// TestNames covers the rules of names.
func TestNames(t *testing.T) {
	for _, c := range []struct{ release, values, want string }{
		{"edge", "", "edge-fairway-controller"},
		{"fairway-edge", "", "fairway-edge-controller"},
		{"edge", "nameOverride: gate", "edge-gate-controller"},
		{"edge", "fullnameOverride: my-ingress-nginx", "my-ingress-nginx-controller"},
		{"edge", "controller: {name: proxy}", "edge-fairway-proxy"},
		{"my-ingress-nginx", "", "my-ingress-nginx-controller"},
	} {
		r := mustRender(t, c.release, values(t, c.values))
		if r.find("Deployment", c.want) == nil {
			t.Errorf("release %s with %q: no Deployment %s in %v", c.release, c.values, c.want, r.list())
		}
	}
}

// TestRefuses covers the combinations that cannot work.
func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"controller: {kind: StatefulSet}":                                   "at '/controller/kind': value must be one of 'Deployment', 'DaemonSet'",
		"controller: {autoscaling: {enabled: true}, keda: {enabled: true}}": "controller.autoscaling and controller.keda exclude each other",
		"rbac: {scope: true}":                                               "rbac.scope needs controller.scope.enabled",
		"controller: {replicaCount: many}":                                  "at '/controller/replicaCount': got string, want",
		"controller: {extraArgs: [v]}":                                      "at '/controller/extraArgs': got array, want",
		"controller: {service: {type: LAN}}":                                "at '/controller/service/type': value must be one of",
		"kong: {enabled: true, admin: {service: a/b, urls: [http://a]}}":    "kong.admin.service and kong.admin.urls exclude each other",
		"kong: {admin: {service: gateway}}":                                 "at '/kong/admin/service': 'gateway' does not match pattern",
		"kong: {adminUrl: x}":                                               "additional properties 'adminUrl' not allowed",
	} {
		if _, err := render(release, values(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
