// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the plain manifests")

// static are the plain manifests: file below deploy, and the values they are rendered with.
var static = map[string]struct{ about, values string }{
	"static/cloud": {"For clusters that give a Service of type LoadBalancer an address.", "controller: {replicaCount: 2}"},
	"static/baremetal": {
		"For clusters without load balancers: ports of every node, by a Service of type NodePort.",
		"controller: {replicaCount: 2, service: {type: NodePort}}",
	},
	"static/hostnetwork": {
		"For clusters without load balancers: ports 80 and 443 of every node.",
		"controller: {kind: DaemonSet, hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet, reportNodeInternalIp: true," +
			" publishService: {enabled: false}, service: {enabled: false}}",
	},
	"kong/fairway": {
		"Kong Gateways as data plane: behind the Service gateway-admin of the namespace kong. The definitions are in crds.yaml.",
		"{kong: {enabled: true, installCRDs: false, admin: {service: kong/gateway-admin}, proxyService: kong/gateway-proxy}, controller: {replicaCount: 2}}",
	},
}

// TestStaticManifests keeps the plain manifests what the chart renders.
func TestStaticManifests(t *testing.T) {
	for name, c := range static {
		path := root + "/deploy/" + name + ".yaml"
		want := manifest(t, c.about, mustRender(t, release, values(t, c.values)))
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the chart renders; `make generate` rewrites it", path)
		}
	}
}

// manifest writes objects for kubectl: with their namespace, and without what only Helm needs.
func manifest(t *testing.T, about string, r rendered) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "# SPDX-FileCopyrightText: The Fairway Authors\n# SPDX-License-Identifier: Apache-2.0\n#\n"+
		"# Made from charts/fairway. DO NOT EDIT: change the chart and run make generate.\n# %s\n", about)
	write := func(o *unstructured.Unstructured) {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "---\n%s", text)
	}
	home := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	home.SetName(namespace)
	home.SetLabels(map[string]string{"pod-security.kubernetes.io/enforce": podSecurity(r)})
	write(home)
	for _, o := range r.objects {
		withoutHelm(o)
		write(o)
	}
	return b.Bytes()
}

// podSecurity is the strictest level that the pods keep: host ports are not allowed by the stricter ones.
func podSecurity(r rendered) string {
	for _, o := range r.objects {
		if host, _, _ := unstructured.NestedBool(o.Object, "spec", "template", "spec", "hostNetwork"); host {
			return "privileged"
		}
	}
	return "restricted"
}

func withoutHelm(o *unstructured.Unstructured) {
	drop := func(fields ...string) {
		labels, found, _ := unstructured.NestedStringMap(o.Object, fields...)
		if !found {
			return
		}
		delete(labels, "helm.sh/chart")
		delete(labels, "app.kubernetes.io/managed-by")
		_ = unstructured.SetNestedStringMap(o.Object, labels, fields...) // the path was found
	}
	drop("metadata", "labels")
	drop("spec", "template", "metadata", "labels")
}
