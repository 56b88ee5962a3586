// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	sigsyaml "sigs.k8s.io/yaml"
)

// foreign are the kinds of others that the chart can render; the test control plane learns them without their fields.
var foreign = []struct{ group, version, kind, plural string }{
	{"monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"},
	{"monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules"},
	{"cert-manager.io", "v1", "Issuer", "issuers"},
	{"cert-manager.io", "v1", "Certificate", "certificates"},
	{"keda.sh", "v1alpha1", "ScaledObject", "scaledobjects"},
}

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[4]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[3]s, plural: %[4]s}
  versions:
    - name: %[2]s
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// server is a real API server.
type server struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper

	kubeconfig, netns string
}

func startServer(t *testing.T) *server {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	if os.Getuid() != 0 {
		t.Skip("needs root for network namespaces")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(cache, "fairway", "cluster")
	if given := os.Getenv("BIN"); given != "" {
		bin = given
	}
	build := exec.Command(filepath.Join(root, "test", "cluster", "build.sh"))
	build.Env = append(os.Environ(), "BIN="+bin)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the cluster: %v: %s", err, out)
	}
	dir, err := os.MkdirTemp("/tmp", "fairway-chart-") // short, for the paths of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	images := filepath.Join(dir, "images.yaml")
	// Not below /tmp: the chart mounts an empty folder there.
	home, err := os.MkdirTemp(filepath.Dir(bin), "chart-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	mapping := fmt.Sprintf("[{match: fairway-ingress/fairway, exec: [%s]}]", program(t, home))
	if err := os.WriteFile(images, []byte(mapping), 0o644); err != nil {
		t.Fatal(err)
	}
	cluster := filepath.Join(bin, "cluster")
	up := exec.Command(cluster, "up", "--detach", "--images", images, "--dir", dir, "--bin", bin, "--owner-pid", fmt.Sprint(os.Getpid()))
	if out, err := up.CombinedOutput(); err != nil {
		t.Fatalf("start the cluster: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(cluster, "down", "--dir", dir).CombinedOutput(); err != nil {
			t.Errorf("stop the cluster: %v: %s", err, out)
		}
	})
	s := &server{kubeconfig: filepath.Join(dir, "kubeconfig")}
	info, err := os.ReadFile(filepath.Join(dir, "info.json"))
	if err != nil {
		t.Fatal(err)
	}
	var network struct{ Netns string }
	if err := json.Unmarshal(info, &network); err != nil {
		t.Fatal(err)
	}
	s.netns = network.Netns
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = 200, 400
	if s.client, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	s.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	return s
}

// create sends an object; a dry run goes through everything but storage.
func (s *server) create(t *testing.T, o *unstructured.Unstructured, dryRun bool) error {
	kind := o.GroupVersionKind()
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	options := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err = s.client.Resource(mapping.Resource).Namespace(o.GetNamespace()).Create(t.Context(), o, options)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (s *server) mustCreate(t *testing.T, text string) {
	t.Helper()
	objects, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if err := s.create(t, o, false); err != nil {
			t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// TestAPIServerTakesWhatIsRendered sends all objects of all values files, and the plain manifests, to a real API server.
func TestAPIServerTakesWhatIsRendered(t *testing.T) {
	s := startServer(t)
	for _, f := range foreign {
		s.mustCreate(t, fmt.Sprintf(crd, f.group, f.version, f.kind, f.plural))
	}
	for _, name := range []string{namespace, "shop"} {
		s.mustCreate(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
	}
	s.awaitForeign(t)
	for name, v := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) { s.takes(t, mustRender(t, release, v).objects) })
	}
	for name := range static {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(root + "/deploy/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			objects, err := parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			s.takes(t, objects)
		})
	}
	t.Run("restricted", func(t *testing.T) { s.runsRestricted(t) })
	t.Run("in-place", func(t *testing.T) { s.runsInPlace(t) })
}

func (s *server) takes(t *testing.T, objects []*unstructured.Unstructured) {
	if len(objects) == 0 {
		t.Error("nothing is rendered")
	}
	for _, o := range objects {
		if err := s.create(t, o, true); err != nil {
			t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

func (s *server) awaitForeign(t *testing.T) {
	for _, f := range foreign {
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if _, err := s.mapper.RESTMapping(schema.GroupKind{Group: f.group, Kind: f.kind}, f.version); err == nil {
				break
			} else if time.Now().After(deadline) {
				t.Fatal(err)
			}
			s.mapper.Reset()
		}
	}
}

// runsRestricted puts the pods of the chart into a namespace that enforces the strictest Pod Security Standard.
func (s *server) runsRestricted(t *testing.T) {
	const strict = "strict"
	s.mustCreate(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+strict+", labels: {pod-security.kubernetes.io/enforce: restricted}}}")
	s.mustCreate(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: fairway, namespace: "+strict+"}}")
	s.mustCreate(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: fairway-backend, namespace: "+strict+"}}")
	for text, want := range map[string]string{
		"defaultBackend: {enabled: true}":                              "",
		"controller: {extraArgs: {http-port: 8080, https-port: 8444}}": "",
		"tcp: {'25': mail/smtp:25}":                                    "",
		"controller: {hostNetwork: true}":                              "violates PodSecurity",
	} {
		for _, o := range mustRender(t, release, values(t, text)).objects {
			template, found, _ := unstructured.NestedMap(o.Object, "spec", "template")
			if !found {
				continue
			}
			pod := &unstructured.Unstructured{Object: template}
			pod.SetAPIVersion("v1")
			pod.SetKind("Pod")
			pod.SetName(o.GetName())
			pod.SetNamespace(strict)
			err := s.create(t, pod, true)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, pod of %s: %v, want %q", text, o.GetName(), err, want)
			}
		}
	}
}

// TestMonitoringFields reads the objects of the Prometheus operator with its own types.
func TestMonitoringFields(t *testing.T) {
	seen := 0
	for name, v := range valuesFiles(t) {
		for _, o := range mustRender(t, release, v).objects {
			var into any
			switch o.GetKind() {
			case "ServiceMonitor":
				into = &monitoringv1.ServiceMonitor{}
			case "PrometheusRule":
				into = &monitoringv1.PrometheusRule{}
			default:
				continue
			}
			seen++
			text, err := json.Marshal(o.Object)
			if err = errors.Join(err, sigsyaml.UnmarshalStrict(text, into)); err != nil {
				t.Errorf("%s: %s: %v", name, o.GetKind(), err)
			}
		}
	}
	if seen < 3 {
		t.Errorf("%d objects seen", seen)
	}
}
