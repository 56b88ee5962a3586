// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// asServiceAccount gives a kubeconfig with the rights of deploy/rbac.yaml and deploy/kong/rbac.yaml, and no others, and makes the pod in whose name
// the controller acts.
func (e *environment) asServiceAccount(t *testing.T, objects dynamic.Interface, pod string) string {
	t.Helper()
	const namespace = "fairway"
	own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	_, err := e.Client.CoreV1().Namespaces().Create(t.Context(), own, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	root, err := testbed.RepositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"deploy/rbac.yaml", "deploy/kong/rbac.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(string(text), "\n---\n") {
			if err := tryCreate(t, objects, namespace, parseObject(t, document)); err != nil && !apierrors.IsAlreadyExists(err) {
				t.Fatalf("%s: %v", file, err)
			}
		}
	}
	_, err = e.Client.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: pod, Labels: map[string]string{"app": pod}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "fairway", Image: "example.test/echo"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = e.Client.CoreV1().Pods(namespace).Delete(context.WithoutCancel(t.Context()), pod, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
	})
	config, err := clientcmd.LoadFromFile(e.Cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = "system:serviceaccount:" + namespace + ":fairway"
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// statusOf gives the status of a custom resource as JSON, with the version of the object.
func statusOf(t *testing.T, client dynamic.Interface, kind, namespace, name string) (status map[string]any, version string) {
	t.Helper()
	k, known := kongapi.KindNamed(kind)
	if !known {
		t.Fatalf("no kind %s", kind)
	}
	o, err := client.Resource(k.Resource()).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	status, _, _ = unstructured.NestedMap(o.Object, "status")
	return status, o.GetResourceVersion()
}

// ancestorsOf prints the ancestors of a KongUpstreamPolicy: each with its conditions.
func ancestorsOf(t *testing.T, client dynamic.Interface, namespace, name string) string {
	t.Helper()
	status, _ := statusOf(t, client, "KongUpstreamPolicy", namespace, name)
	text, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Ancestors []struct {
			AncestorRef struct{ Kind, Name string }
			Conditions  []struct{ Type, Status, Reason string }
		}
	}
	if err := json.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, a := range parsed.Ancestors {
		words = append(words, a.AncestorRef.Kind+" "+a.AncestorRef.Name)
		for _, c := range a.Conditions {
			words = append(words, c.Type+"="+c.Status+"/"+c.Reason)
		}
	}
	return strings.Join(words, " ")
}

// TestKongStatus has addresses of TCPIngresses and UDPIngresses and the ancestors of a policy written by a controller that has the rights of
// deploy/kong and no others, and the addresses taken out when it ends.
func TestKongStatus(t *testing.T) {
	e := running(t)
	simulator, url := kongGateway(t, kongtest.Options{})
	ingress, namespace := e.kongClass(t), e.Namespace(t)
	objects := e.dynamic(t)
	installDefinitions(t, objects)
	kubeconfig := e.asServiceAccount(t, objects, "kong-4")
	create(t, objects, namespace, `{apiVersion: v1, kind: Service, metadata: {name: web, annotations: {konghq.com/upstream-policy: sticky}},
  spec: {ports: [{port: 80}]}}`)
	create(t, objects, namespace, `{apiVersion: v1, kind: Service, metadata: {name: db}, spec: {ports: [{port: 9000}]}}`)
	create(t, objects, namespace, `{apiVersion: configuration.konghq.com/v1beta1, kind: KongUpstreamPolicy, metadata: {name: sticky},
  spec: {algorithm: consistent-hashing, hashOn: {header: x-user}}}`)
	for _, kind := range []string{"TCPIngress", "UDPIngress"} {
		for class, name := range map[string]string{"kong": "ours", "another": "theirs"} {
			create(t, objects, namespace, `{apiVersion: configuration.konghq.com/v1beta1, kind: `+kind+`,
  metadata: {name: `+name+`, annotations: {kubernetes.io/ingress.class: `+class+`}},
  spec: {rules: [{port: 9000, backend: {serviceName: db, servicePort: 9000}}]}}`)
		}
	}
	e.CreateIngress(t, namespace, ingress("web", "web.status.test"))
	replica := e.startKongAs(t, "fairway", 4, "--kong-admin-url", url, "--kubeconfig", kubeconfig)

	addresses := func(kind, name string) string {
		status, _ := statusOf(t, objects, kind, namespace, name)
		list, _, _ := unstructured.NestedSlice(status, "loadBalancer", "ingress")
		var words []string
		for _, entry := range list {
			ip, _, _ := unstructured.NestedString(entry.(map[string]any), "ip")
			words = append(words, ip)
		}
		return strings.Join(words, ",")
	}
	for _, kind := range []string{"TCPIngress", "UDPIngress"} {
		e.await(t, "the addresses of a "+kind, func() bool { return addresses(kind, "ours") == "192.0.2.1" })
	}
	const good = "Service web Accepted=True/Accepted Programmed=True/Programmed"
	e.await(t, "the ancestor of the policy", func() bool { return ancestorsOf(t, objects, namespace, "sticky") == good })
	_, before := statusOf(t, objects, "TCPIngress", namespace, "ours")
	_, policy := statusOf(t, objects, "KongUpstreamPolicy", namespace, "sticky")
	e.CreateIngress(t, namespace, ingress("more", "more.status.test"))
	e.await(t, "another route", func() bool {
		return simulator.Route(kongtest.Request{Host: "more.status.test", Path: "/"}).Status == 503 // nobody is ready to serve
	})
	if _, after := statusOf(t, objects, "TCPIngress", namespace, "ours"); after != before {
		t.Error("the TCPIngress was written although nothing of it changed")
	}
	if _, after := statusOf(t, objects, "KongUpstreamPolicy", namespace, "sticky"); after != policy {
		t.Error("the policy was written although nothing of it changed")
	}
	for _, name := range []string{"web", "more"} {
		if err := e.Client.NetworkingV1().Ingresses(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	e.await(t, "a policy that nobody uses", func() bool { return ancestorsOf(t, objects, namespace, "sticky") == "" })
	replica.End(syscall.SIGTERM)
	for _, kind := range []string{"TCPIngress", "UDPIngress"} {
		if got := addresses(kind, "ours"); got != "" {
			t.Errorf("once the last replica has ended the %s has the address %s", kind, got)
		}
		if got := addresses(kind, "theirs"); got != "" {
			t.Errorf("the %s of another class has the address %s", kind, got)
		}
	}
}

// TestKongKeepsCertificates breaks, deletes and mends the Secret of a server name, which answers with its last good certificate all the while.
func TestKongKeepsCertificates(t *testing.T) {
	e := running(t)
	simulator, url := kongGateway(t, kongtest.Options{DBLess: true})
	ingress, namespace := e.kongClass(t), e.Namespace(t)
	secrets := e.Client.CoreV1().Secrets(namespace)
	first := newTLSSecret(t, "tls", "tls.kong.test", 1)
	if _, err := secrets.Create(t.Context(), first, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	secure := func(name, host string) *netv1.Ingress {
		i := ingress(name, host)
		i.Spec.TLS = []netv1.IngressTLS{{Hosts: []string{host}, SecretName: "tls"}}
		return i
	}
	e.CreateIngress(t, namespace, secure("web", "tls.kong.test"))
	e.startKong(t, 5, "--kong-admin-url", url)
	// served gives the certificate of the server name at the gateway.
	served := func() string {
		for _, s := range simulator.Entities("snis") {
			if s["name"] != "tls.kong.test" {
				continue
			}
			for _, c := range simulator.Entities("certificates") {
				if c["id"] == s["certificate"].(map[string]any)["id"] {
					return strings.TrimSpace(c["cert"].(string))
				}
			}
		}
		return ""
	}
	chain := func(s *corev1.Secret) string { return strings.TrimSpace(string(s.Data[corev1.TLSCertKey])) }
	e.await(t, "the certificate", func() bool { return served() == chain(first) })
	// stays demands that the controller has seen what happened, and still serves the first.
	stays := func(when, message, marker string) {
		t.Helper()
		e.await(t, "an Event when "+when, func() bool {
			list, err := e.Client.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web"})
			if err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
				return e.Reason == "KongConfigurationTranslationFailed" && e.Source.Component == "kong-client" && strings.Contains(e.Message, message)
			})
		})
		e.CreateIngress(t, namespace, ingress(marker, marker+".kong.test"))
		e.await(t, "a later route when "+when, func() bool {
			return simulator.Route(kongtest.Request{Host: marker + ".kong.test", Path: "/"}).Status != 404
		})
		if served() != chain(first) {
			t.Errorf("when %s the last good certificate is gone", when)
		}
	}
	if err := secrets.Delete(t.Context(), "tls", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	stays("the Secret is gone", "there is no Secret "+namespace+"/tls", "first")
	broken := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "tls"}, Data: map[string][]byte{corev1.TLSCertKey: []byte("x")}}
	if _, err := secrets.Create(t.Context(), broken, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	stays("the Secret is broken", "lacks tls.crt or tls.key", "second")
	if err := secrets.Delete(t.Context(), "tls", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	next := newTLSSecret(t, "tls", "tls.kong.test", 2)
	if _, err := secrets.Create(t.Context(), next, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.await(t, "the new certificate", func() bool { return served() == chain(next) })
}
