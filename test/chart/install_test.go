// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	old     = "ingress-nginx" // release and namespace of the predecessor
	patient = time.Minute
	// routed is in the answer of the backend of the Ingress: it says in which namespace it is.
	routed = `"namespace":"shop"`
)

// predecessor is a release of ingress-nginx as far as an upgrade in place meets it: names, labels and selectors. Its container only answers.
const predecessor = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ingress-nginx-controller, labels: &labels {app.kubernetes.io/name: ingress-nginx, app.kubernetes.io/instance: ingress-nginx, app.kubernetes.io/component: controller}}
spec:
  selector: {matchLabels: *labels}
  template:
    metadata: {labels: *labels}
    spec:
      serviceAccountName: ingress-nginx
      containers:
        - name: controller
          image: echo
          ports: [{name: http, containerPort: 80}, {name: https, containerPort: 443}]
---
apiVersion: v1
kind: Service
metadata: {name: ingress-nginx-controller, labels: *labels}
spec:
  type: LoadBalancer
  selector: *labels
  ports: [{name: http, port: 80, targetPort: http}, {name: https, port: 443, targetPort: https}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: ingress-nginx}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller}
data: {}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
`

const shop = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: echo, ports: [{containerPort: 8080}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {ingressClassName: nginx, rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`

// runsInPlace upgrades a release of the predecessor to this chart with the predecessor's values, and rolls it back: the controller then runs as a pod
// under its own roles, with its own webhook, behind the Service that was there.
func (s *server) runsInPlace(t *testing.T) {
	s.mustCreate(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+old+"}}")
	h := s.helm(t)
	install := action.NewInstall(h)
	install.ReleaseName, install.Namespace, install.WaitStrategy, install.Timeout = old, old, kube.LegacyStrategy, patient
	if _, err := install.RunWithContext(t.Context(), predecessorsChart(t), nil); err != nil {
		t.Fatal(err)
	}
	s.mustCreate(t, shop)
	address := s.address(t)
	if body := s.ask(t, address); strings.Contains(body, routed) {
		t.Fatalf("before the upgrade the route answers: %s", body)
	}

	c, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	c.Metadata.KubeVersion = "" // the test API server does not know its version
	upgrade := action.NewUpgrade(h)
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.Timeout = old, kube.LegacyStrategy, patient
	v := values(t, "controller: {image: {tag: v1.12.1, digest: 'sha256:12'}, replicaCount: 2, metrics: {enabled: true}, extraArgs: {v: 2}, config: {use-gzip: 'true'}, updateStrategy: {rollingUpdate: {maxUnavailable: 0}}}")
	if _, err := upgrade.RunWithContext(t.Context(), old, c, v); err != nil {
		t.Fatal(err)
	}
	if now := s.address(t); now != address {
		t.Errorf("the Service had the address %s and has %s", address, now)
	}
	s.eventually(t, "the route behind the Service", func() string { return s.ask(t, address) }, routed)
	s.eventually(t, "the address in the status of the Ingress", func() string {
		i := s.get(t, schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}, "shop", "web")
		return fmt.Sprint(i.Object["status"])
	}, address)
	s.eventually(t, "a verdict of the webhook", func() string {
		bad := strings.NewReplacer("name: web, namespace: shop", "name: bad, namespace: shop").Replace(shop[strings.LastIndex(shop, "---"):])
		objects, err := parse(bad)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(s.create(t, objects[0], true)) // the host and path of another
	}, "denied the request")

	rollback := action.NewRollback(h)
	rollback.WaitStrategy, rollback.Timeout = kube.LegacyStrategy, patient
	if err := rollback.Run(old); err != nil {
		t.Fatal(err)
	}
	if now := s.address(t); now != address {
		t.Errorf("after the rollback the Service has the address %s", now)
	}
	d := s.get(t, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, old, "ingress-nginx-controller")
	if got := container(t, d)["image"]; got != "echo" {
		t.Errorf("after the rollback the image is %v", got)
	}
}

func (s *server) helm(t *testing.T) *action.Configuration {
	t.Helper()
	settings := cli.New()
	settings.KubeConfig = s.kubeconfig
	settings.SetNamespace(old)
	h := &action.Configuration{}
	if err := h.Init(settings.RESTClientGetter(), old, "secret"); err != nil {
		t.Fatal(err)
	}
	return h
}

func predecessorsChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadFiles([]*archive.BufferedFile{
		{Name: "Chart.yaml", Data: []byte("{apiVersion: v2, name: ingress-nginx, version: 4.12.1}")},
		{Name: "templates/all.yaml", Data: []byte(expand(t, predecessor))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// expand replaces YAML's references, which end with a document.
func expand(t *testing.T, text string) string {
	const labels = "{app.kubernetes.io/name: ingress-nginx, app.kubernetes.io/instance: ingress-nginx, app.kubernetes.io/component: controller}"
	text = strings.ReplaceAll(text, "&labels "+labels, labels)
	return strings.ReplaceAll(text, "*labels", labels)
}

// address is the one that the load balancer gave the Service.
func (s *server) address(t *testing.T) string {
	t.Helper()
	var address string
	for deadline := time.Now().Add(patient); address == ""; time.Sleep(100 * time.Millisecond) {
		o := s.get(t, schema.GroupVersionResource{Version: "v1", Resource: "services"}, old, "ingress-nginx-controller")
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "loadBalancer", "ingress")
		if len(list) > 0 {
			address = list[0].(map[string]any)["ip"].(string)
		} else if time.Now().After(deadline) {
			t.Fatal("the Service has no address")
		}
	}
	return address
}

func (s *server) get(t *testing.T, kind schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	o, err := s.client.Resource(kind).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// ask sends a request for shop.example from inside the cluster's network, and gives the body, without blanks, or the error.
func (s *server) ask(t *testing.T, address string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ip", "netns", "exec", s.netns, "curl", "-sS", "-H", "Host: shop.example", "http://"+net.JoinHostPort(address, "80")).CombinedOutput()
	if err != nil {
		return err.Error() + ": " + string(out)
	}
	return strings.ReplaceAll(string(out), " ", "")
}

func (s *server) eventually(t *testing.T, what string, look func() string, want string) {
	t.Helper()
	var got string
	for deadline := time.Now().Add(patient); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if got = look(); strings.Contains(got, want) {
			return
		}
	}
	t.Fatalf("not within %s: %s: %s", patient, what, got)
}
