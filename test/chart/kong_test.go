// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// TestKongHasNoTraffic holds that a controller of Kong Gateways opens no port for requests and keeps no configuration of nginx, whatever the values
// say, and has a Service for them only where a gateway is in the same pod.
func TestKongHasNoTraffic(t *testing.T) {
	for _, name := range []string{"kong", "kong-sidecar"} {
		r := mustRender(t, release, readValues(t, "testdata/values/"+name+".yaml"))
		d := r.find("Deployment", "fairway-controller")
		if d == nil {
			t.Fatalf("%s: %v", name, r.list())
		}
		ports, _, _ := unstructured.NestedSlice(container(t, d), "ports")
		for _, p := range ports {
			if n := p.(map[string]any)["name"]; n != "webhook" && n != "metrics" {
				t.Errorf("%s: the controller has the port %v", name, n)
			}
		}
		if add, found, _ := unstructured.NestedStringSlice(container(t, d), "securityContext", "capabilities", "add"); found {
			t.Errorf("%s: the controller has the capabilities %v", name, add)
		}
		volumes, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "volumes")
		for _, v := range volumes {
			if n := v.(map[string]any)["name"]; n == "nginx-template" || n == "geoip" {
				t.Errorf("%s: the controller has the volume %v", name, n)
			}
		}
		for kind, wanted := range map[string]bool{"Service fairway-controller": name == "kong-sidecar", "ConfigMap fairway-tcp": false} {
			if slices.Contains(r.list(), kind) != wanted {
				t.Errorf("%s: there is %s: %v", name, kind, !wanted)
			}
		}
	}
}

// TestKongClass holds that the class is Kong's, by its own values.
func TestKongClass(t *testing.T) {
	for text, want := range map[string][2]string{
		"kong: {enabled: true}": {"kong", "ingress-controllers.konghq.com/kong"},
		"kong: {enabled: true, ingressClass: gateway, controllerValue: a/b}": {"gateway", "a/b"},
	} {
		r := mustRender(t, release, values(t, text))
		class := r.find("IngressClass", want[0])
		if class == nil {
			t.Errorf("%s: %v", text, r.list())
			continue
		}
		if controller, _, _ := unstructured.NestedString(class.Object, "spec", "controller"); controller != want[1] {
			t.Errorf("%s: the class is of the controller %s", text, controller)
		}
	}
}

// TestKongWebhooks holds what the API server asks about: all custom resources of deploy/kong/crds.yaml that are judged, and Secrets by their labels
// alone.
func TestKongWebhooks(t *testing.T) {
	r := mustRender(t, release, readValues(t, "testdata/values/kong.yaml"))
	o := r.find("ValidatingWebhookConfiguration", "fairway-admission")
	if o == nil {
		t.Fatal(r.list())
	}
	text, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := json.Unmarshal(text, &configuration); err != nil {
		t.Fatal(err)
	}
	asked := map[string]*admissionregistrationv1.ValidatingWebhook{}
	for i := range configuration.Webhooks {
		w := &configuration.Webhooks[i]
		s := w.ClientConfig.Service
		if s == nil || s.Name != "fairway-controller-admission" || *w.TimeoutSeconds != 5 || w.NamespaceSelector == nil {
			t.Errorf("%s is called otherwise than the values say: %+v", w.Name, w)
		}
		for _, resource := range w.Rules[0].Resources {
			asked[resource] = w
			if resource == "secrets" {
				if w.ObjectSelector == nil || len(w.ObjectSelector.MatchExpressions)+len(w.ObjectSelector.MatchLabels) != 1 {
					t.Errorf("%s is asked about Secrets without the label: %v", w.Name, w.ObjectSelector)
				}
			}
		}
	}
	for _, resource := range []string{
		"ingresses", "secrets", "kongplugins", "kongclusterplugins", "kongconsumers", "kongconsumergroups", "kongupstreampolicies", "kongingresses",
		"tcpingresses", "udpingresses",
	} {
		if asked[resource] == nil {
			t.Errorf("nobody is asked about %s", resource)
		}
	}
	plain := mustRender(t, release, nil).find("ValidatingWebhookConfiguration", "fairway-admission")
	if strings.Contains(fmt.Sprint(plain.Object), "konghq") {
		t.Error("the plain chart has webhooks for Kong")
	}
}
