// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
	"github.com/fairway-ingress/fairway/internal/source/kube"
	"github.com/fairway-ingress/fairway/internal/status"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// TestKongObjects installs the definitions of deploy/kong while a source runs: the API server takes them and refuses what they refuse, and the
// source finds the objects, and the Secrets that they name, without a restart.
func TestKongObjects(t *testing.T) {
	e := running(t)
	client := e.dynamic(t)
	namespace := e.Namespace(t)
	s := kube.New(kube.Options{Client: e.Client, Kong: &kube.KongOptions{Client: client, References: konghq.References, Labels: konghq.Labels()}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	await(t, "the source without definitions", func() bool {
		select {
		case <-s.Synced():
			return true
		default:
			return false
		}
	})

	installDefinitions(t, client)
	checkDefinitions(t, client, namespace)
	plugin := source.Key{Namespace: namespace, Name: "good-plugin"}
	await(t, "a KongPlugin in the snapshot", func() bool { return s.Snapshot().Kong.Plugins[plugin] != nil })
	before := s.Snapshot().Kong.Plugins[plugin]
	if before.Plugin != "key-auth" {
		t.Errorf("the plugin is %q", before.Plugin)
	}

	checkConditions(t, client, namespace, s)

	create(t, client, namespace, `{apiVersion: v1, kind: Secret, metadata: {name: key, labels: {konghq.com/credential: key-auth}}, stringData: {key: k}}`)
	create(t, client, namespace, `{apiVersion: v1, kind: Secret, metadata: {name: config}, stringData: {config: "minute: 5"}}`)
	create(t, client, namespace, `{apiVersion: v1, kind: Secret, metadata: {name: unnamed}, stringData: {config: "minute: 5"}}`)
	create(t, client, namespace, `{apiVersion: configuration.konghq.com/v1, kind: KongPlugin, metadata: {name: late}, plugin: rate-limiting,
  configFrom: {secretKeyRef: {name: config, key: config}}}`)
	await(t, "the Secrets that count", func() bool {
		secrets := s.Snapshot().Secrets
		return secrets[source.Key{Namespace: namespace, Name: "key"}] != nil && secrets[source.Key{Namespace: namespace, Name: "config"}] != nil
	})
	if s.Snapshot().Secrets[source.Key{Namespace: namespace, Name: "unnamed"}] != nil {
		t.Error("a Secret that nobody names is in the snapshot")
	}
	if s.Snapshot().Kong.Plugins[plugin] != before {
		t.Error("a plugin that did not change is another pointer")
	}
	if err := client.Resource(resourceOf("kongplugins", "v1")).Namespace(namespace).Delete(ctx, "late", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of a KongPlugin", func() bool { return s.Snapshot().Kong.Plugins[source.Key{Namespace: namespace, Name: "late"}] == nil })
}

// dynamic gives a client for objects of any kind.
func (e *environment) dynamic(t *testing.T) dynamic.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", e.Cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// checkConditions has the condition of a plugin written: in force, then refused.
func checkConditions(t *testing.T, client dynamic.Interface, namespace string, s *kube.Source) {
	t.Helper()
	programmer := status.NewProgrammer(client, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); programmer.Lead(ctx) }()
	defer func() { cancel(); <-done }()
	plugins := client.Resource(resourceOf("kongplugins", "v1")).Namespace(namespace)
	says := func() string {
		o, err := plugins.Get(t.Context(), "good-plugin", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		if len(conditions) != 1 {
			return ""
		}
		c := conditions[0].(map[string]any)
		return fmt.Sprint(c["type"], " ", c["status"], " ", c["reason"], " ", c["message"])
	}
	ours := konghq.Ours(&konghq.Options{}, s.Snapshot())
	programmer.Set("objects", status.Conditions(s.Snapshot().Kong, nil, nil, ours))
	await(t, "Programmed", func() bool { return strings.HasPrefix(says(), "Programmed True Programmed") })
	refused := model.Problem{
		Object: model.Ref{Kind: "KongPlugin", Namespace: namespace, Name: "good-plugin"}, Field: "config", Reason: model.ReasonInvalidPlugin, Message: "no",
	}
	programmer.Set("objects", status.Conditions(s.Snapshot().Kong, []model.Problem{refused}, nil, ours))
	await(t, "Invalid", func() bool { return says() == "Programmed False Invalid config: no" })
	if s.Snapshot().Kong.Plugins[source.Key{Namespace: namespace, Name: "good-plugin"}] == nil {
		t.Error("the plugin is gone from the snapshot")
	}
}

func resourceOf(plural, version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: kongapi.Group, Version: version, Resource: plural}
}

// installDefinitions creates the definitions and waits until each is served.
func installDefinitions(t *testing.T, client dynamic.Interface) {
	t.Helper()
	root, err := testbed.RepositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "deploy/kong/crds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for _, document := range strings.Split(string(text), "\n---\n") {
		o := parseObject(t, document)
		if o == nil {
			continue
		}
		if _, err := definitions.Create(t.Context(), o, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatalf("%s: %v", o.GetName(), err)
		}
		await(t, o.GetName(), func() bool {
			current, err := definitions.Get(t.Context(), o.GetName(), metav1.GetOptions{})
			if err != nil {
				return false
			}
			conditions, _, _ := unstructured.NestedSlice(current.Object, "status", "conditions")
			for _, c := range conditions {
				if c, ok := c.(map[string]any); ok && c["type"] == "NonStructuralSchema" {
					t.Errorf("%s: %v", o.GetName(), c["message"])
				} else if ok && c["type"] == "Established" && c["status"] == "True" {
					return true
				}
			}
			return false
		})
	}
}

func parseObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if o.Object == nil {
		return nil
	}
	return o
}

func create(t *testing.T, client dynamic.Interface, namespace, text string) {
	t.Helper()
	if err := tryCreate(t, client, namespace, parseObject(t, text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

func tryCreate(t *testing.T, client dynamic.Interface, namespace string, o *unstructured.Unstructured) error {
	t.Helper()
	gvk := o.GroupVersionKind()
	plural := strings.ToLower(gvk.Kind) + "s"
	cluster := strings.HasPrefix(gvk.Kind, "Cluster")
	if kind, known := kongapi.KindNamed(gvk.Kind); known {
		plural, cluster = kind.Plural, kind.Cluster
	}
	all := client.Resource(schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: plural})
	to := dynamic.ResourceInterface(all)
	if !cluster {
		to = all.Namespace(namespace)
	}
	_, err := to.Create(t.Context(), o, metav1.CreateOptions{})
	if err == nil && cluster {
		t.Cleanup(func() { _ = to.Delete(context.WithoutCancel(t.Context()), o.GetName(), metav1.DeleteOptions{}) })
	}
	return err
}

// checkDefinitions creates objects that the definitions take, and some that they refuse.
func checkDefinitions(t *testing.T, client dynamic.Interface, namespace string) {
	t.Helper()
	for _, c := range []struct {
		name, kind, body string
		refused          string // part of the message
	}{
		{"good-plugin", "KongPlugin", "plugin: key-auth\nconfig: {key_names: [a], hide_credentials: true, nested: {deep: [1, null]}}", ""},
		{"no-plugin", "KongPlugin", "config: {a: b}", "plugin"},
		{"both", "KongPlugin", "plugin: x\nconfig: {}\nconfigFrom: {secretKeyRef: {name: a, key: b}}", "config or configFrom"},
		{"protocol", "KongPlugin", "plugin: x\nprotocols: [gopher]", "gopher"},
		{"cluster-plugin", "KongClusterPlugin",
			"plugin: x\nconfigFrom: {secretKeyRef: {namespace: elsewhere, name: a, key: b}}", ""},
		{"cluster-plugin-namespace", "KongClusterPlugin", "plugin: x\nconfigFrom: {secretKeyRef: {name: a, key: b}}", "namespace"},
		{"consumer", "KongConsumer", "username: ann\ncredentials: [key]\nconsumerGroups: [gold]", ""},
		{"nobody", "KongConsumer", "credentials: [key]", "username or custom_id"},
		{"group", "KongConsumerGroup", "", ""},
		{"policy", "KongUpstreamPolicy",
			"spec: {algorithm: consistent-hashing, hashOn: {cookie: c, cookiePath: /}, healthchecks: {active: {healthy: {interval: 5}}}}", ""},
		{"hash", "KongUpstreamPolicy", "spec: {algorithm: round-robin, hashOn: {input: ip}}", "consistent-hashing"},
		{"hashes", "KongUpstreamPolicy", "spec: {algorithm: consistent-hashing, hashOn: {input: ip, header: h}}", "exactly one"},
		{"fallback", "KongUpstreamPolicy",
			"spec: {algorithm: consistent-hashing, hashOn: {cookie: c}, hashOnFallback: {input: ip}}", "cookie"},
		{"slots", "KongUpstreamPolicy", "spec: {slots: 5}", "slots"},
		{"ingress", "KongIngress", "upstream: {hash_on: ip}\nproxy: {retries: 3}", ""},
		{"tcp", "TCPIngress",
			"spec: {rules: [{port: 5432, host: db.example, backend: {serviceName: db, servicePort: 5432}}], tls: [{hosts: [db.example], secretName: s}]}", ""},
		{"tcp-port", "TCPIngress", "spec: {rules: [{port: 70000, backend: {serviceName: db, servicePort: 5432}}]}", "port"},
		{"udp", "UDPIngress", "spec: {rules: [{port: 53, backend: {serviceName: dns, servicePort: 53}}]}", ""},
		{"udp-backend", "UDPIngress", "spec: {rules: [{port: 53}]}", "backend"},
		{"parameters", "IngressClassParameters", "spec: {serviceUpstream: true}", ""},
		{"facade", "KongServiceFacade", "spec: {backendRef: {name: web, port: 80}}", ""},
	} {
		kind, known := kongapi.KindNamed(c.kind)
		if !known {
			t.Fatalf("no kind %s", c.kind)
		}
		o := parseObject(t, "apiVersion: "+kind.APIVersion()+"\nkind: "+kind.Name+"\nmetadata: {name: "+c.name+"}\n"+c.body)
		err := tryCreate(t, client, namespace, o)
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: got %v, want a refusal with %q", c.name, err, c.refused)
		}
	}
	checkImmutable(t, client.Resource(resourceOf("kongplugins", "v1")).Namespace(namespace))
}

// checkImmutable changes the plugin of a KongPlugin, which nobody may.
func checkImmutable(t *testing.T, plugins dynamic.ResourceInterface) {
	t.Helper()
	o, err := plugins.Get(t.Context(), "good-plugin", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.Object["plugin"] = "jwt"
	if _, err := plugins.Update(t.Context(), o, metav1.UpdateOptions{}); err == nil || !strings.Contains(err.Error(), "cannot change") {
		t.Errorf("plugin was changed: %v", err)
	}
}
