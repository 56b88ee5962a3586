// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"os"
	"testing"
)

// TestKong holds what kong.enabled adds: the rights of deploy/kong/rbac.yaml and the definitions of deploy/kong/crds.yaml, and nothing without it.
func TestKong(t *testing.T) {
	const definition, plugin = "CustomResourceDefinition", "kongplugins.configuration.konghq.com"
	if r := mustRender(t, "fairway", values(t, "{}")); r.find(definition, plugin) != nil || r.find("ClusterRole", "fairway-kong") != nil {
		t.Error("the plain chart installs what is Kong's")
	}
	if r := mustRender(t, "fairway", values(t, "kong: {enabled: true, installCRDs: false}")); r.find(definition, plugin) != nil {
		t.Error("installCRDs: false installs definitions")
	}
	r := mustRender(t, "fairway", values(t, "kong: {enabled: true}"))
	text, err := os.ReadFile(root + "/deploy/kong/crds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile(chartDir + "/files/kong-crds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, ours) {
		t.Error("charts/fairway/files/kong-crds.yaml is not deploy/kong/crds.yaml; copy it")
	}
	plain, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range plain {
		if r.find(definition, o.GetName()) == nil {
			t.Errorf("the chart lacks %s", o.GetName())
		}
	}
	rights, err := os.ReadFile(root + "/deploy/kong/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	roles, err := parse(string(rights))
	if err != nil {
		t.Fatal(err)
	}
	got, want := permissions(t, r.objects, "ClusterRole", "fairway-kong"), permissions(t, roles, "ClusterRole", "fairway-kong")
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("the chart allows %v, deploy/kong/rbac.yaml %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("the chart allows %s, deploy/kong/rbac.yaml %s", got[i], want[i])
		}
	}
}
