// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRules compares the rules of the chart with those of deploy, which are compared with what the controller does in test/e2e/cluster.
func TestRules(t *testing.T) {
	r := mustRender(t, "fairway", values(t, "controller: {electionID: ingress-controller-leader}"))
	for file, name := range map[string]string{"rbac.yaml": "fairway", "rbac-webhook.yaml": "fairway-admission"} {
		text, err := os.ReadFile(root + "/deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		sameRules(t, r.objects, plain, file, name)
	}
}

func sameRules(t *testing.T, chart, plain []*unstructured.Unstructured, file, name string) {
	t.Helper()
	for _, kind := range []string{"ClusterRole", "Role"} {
		got, want := permissions(t, chart, kind, name), permissions(t, plain, kind, name)
		if len(want) == 0 {
			t.Errorf("deploy/%s has no %s %s", file, kind, name)
		}
		for _, p := range got {
			if !slices.Contains(want, p) {
				t.Errorf("%s: the chart allows %s, deploy/%s does not", kind, p, file)
			}
		}
		for _, p := range want {
			if !slices.Contains(got, p) {
				t.Errorf("%s: deploy/%s allows %s, the chart does not", kind, file, p)
			}
		}
	}
}

// permissions gives what roles of a kind and name allow, one string for each verb, resource and name.
func permissions(t *testing.T, objects []*unstructured.Unstructured, kind, name string) []string {
	t.Helper()
	var all []string
	for _, o := range objects {
		if o.GetKind() != kind || o.GetName() != name {
			continue
		}
		rules, _, err := unstructured.NestedSlice(o.Object, "rules")
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range rules {
			field := func(name string) []string {
				list, _, err := unstructured.NestedStringSlice(rule.(map[string]any), name)
				if err != nil {
					t.Fatal(err)
				}
				return list
			}
			names := field("resourceNames")
			if len(names) == 0 {
				names = []string{"*"}
			}
			for _, group := range field("apiGroups") {
				for _, resource := range field("resources") {
					for _, name := range names {
						for _, verb := range field("verbs") {
							all = append(all, strings.Join([]string{verb, resource, group, name}, " "))
						}
					}
				}
			}
		}
	}
	return all
}

// TestScope holds what rbac.scope is for: no right outside the namespace that is watched and the controller's own.
func TestScope(t *testing.T) {
	r := mustRender(t, release, values(t, "{rbac: {scope: true}, controller: {scope: {enabled: true, namespace: shop}}}"))
	seen := map[string]bool{}
	for _, o := range r.objects {
		switch o.GetKind() {
		case "ClusterRole":
			for _, p := range permissions(t, r.objects, "ClusterRole", o.GetName()) {
				if !strings.Contains(p, "webhookconfigurations") {
					t.Errorf("ClusterRole %s allows %s", o.GetName(), p)
				}
			}
		case "Role", "RoleBinding":
			seen[o.GetKind()+" "+o.GetNamespace()] = true
		}
	}
	for _, want := range []string{"Role shop", "RoleBinding shop", "Role " + namespace, "RoleBinding " + namespace} {
		if !seen[want] {
			t.Errorf("there is no %s", want)
		}
	}
}
