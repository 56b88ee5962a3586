// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/fairway-ingress/fairway/internal/source"
)

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func slice(name, service, address string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{ObjectMeta: meta("ns", name), Endpoints: []discoveryv1.Endpoint{{Addresses: []string{address}}}}
	s.Labels = map[string]string{discoveryv1.LabelServiceName: service}
	return s
}

func secret(name, text string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta("ns", name), Data: map[string][]byte{"key": []byte(text)}}
}

// tlsSecrets is a References that names the Secrets of TLS sections.
func tlsSecrets(i *netv1.Ingress) (secrets, configMaps []source.Key) {
	for _, t := range i.Spec.TLS {
		secrets = append(secrets, source.Key{Namespace: i.Namespace, Name: t.SecretName})
	}
	return secrets, nil
}

func ingressWithTLS(name string, secrets ...string) *netv1.Ingress {
	i := &netv1.Ingress{ObjectMeta: meta("ns", name)}
	for _, s := range secrets {
		i.Spec.TLS = append(i.Spec.TLS, netv1.IngressTLS{SecretName: s})
	}
	return i
}

// start runs a source against client-go's fake API and waits until it is synced.
func start(t *testing.T, options Options, objects ...runtime.Object) (*Source, *fake.Clientset) {
	t.Helper()
	client := fake.NewClientset(objects...)
	return run(t, options, client), client
}

func run(t *testing.T, options Options, client *fake.Clientset) *Source {
	t.Helper()
	options.Client = client
	s := New(options)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	select {
	case <-s.Synced():
	case <-time.After(20 * time.Second):
		t.Fatal("not synced")
	}
	return s
}

func until(t *testing.T, s *Source, what string, satisfied func(*source.Snapshot) bool) *source.Snapshot {
	t.Helper()
	timeout := time.After(10 * time.Second)
	for {
		if snapshot := s.Snapshot(); satisfied(snapshot) {
			return snapshot
		}
		select {
		case <-s.Changed():
		case <-timeout:
			t.Fatalf("%s: never came", what)
		}
	}
}

func TestOnlyNamedSecretsAreKept(t *testing.T) {
	helm := secret("release", "big")
	helm.Type = "helm.sh/release.v1"
	s, client := start(t, Options{References: tlsSecrets, Secrets: []source.Key{{Namespace: "ns", Name: "pinned"}}},
		ingressWithTLS("web", "used", "release"), secret("used", "1"), secret("unused", "1"), secret("pinned", "1"), helm)
	key := func(name string) source.Key { return source.Key{Namespace: "ns", Name: name} }
	first := s.Snapshot()
	for name, want := range map[string]bool{"used": true, "pinned": true, "unused": false} {
		if _, found := first.Secrets[key(name)]; found != want {
			t.Errorf("Secret %s: in memory %v, want %v", name, found, want)
		}
	}

	ctx := t.Context()
	if _, err := client.NetworkingV1().Ingresses("ns").Create(ctx, ingressWithTLS("later", "unused"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, s, "a Secret named later", func(s *source.Snapshot) bool { return s.Secrets[key("unused")] != nil })
	if _, err := client.CoreV1().Secrets("ns").Update(ctx, withVersion(secret("unused", "2")), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, s, "its change", func(s *source.Snapshot) bool { return string(s.Secrets[key("unused")].Data["key"]) == "2" })
	if err := client.CoreV1().Secrets("ns").Delete(ctx, "unused", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, s, "its end", func(s *source.Snapshot) bool { return s.Secrets[key("unused")] == nil })
	if string(first.Secrets[key("used")].Data["key"]) != "1" || first.Secrets[key("unused")] != nil {
		t.Error("a snapshot changed after it was given out")
	}
}

// TestConfigMapsThatTheSettingsName are kept with their content, from the moment when the settings name them.
func TestConfigMapsThatTheSettingsName(t *testing.T) {
	configMap := func(name, version string, data map[string]string) *corev1.ConfigMap {
		c := &corev1.ConfigMap{ObjectMeta: meta("ns", name), Data: data}
		c.ResourceVersion = version
		return c
	}
	key := func(name string) source.Key { return source.Key{Namespace: "ns", Name: name} }
	names := func(c *corev1.ConfigMap) (secrets, configMaps []source.Key) {
		if c.Name != "settings" || c.Data["add-headers"] == "" {
			return nil, nil
		}
		return []source.Key{key("dh")}, []source.Key{key(c.Data["add-headers"])}
	}
	s, client := start(t, Options{ConfigMaps: []source.Key{key("settings")}, ConfigMapReferences: names},
		configMap("settings", "1", nil), configMap("headers", "1", map[string]string{"X-A": "1"}), secret("dh", "1"))
	if s.Snapshot().ConfigMaps[key("headers")] != nil || s.Snapshot().Secrets[key("dh")] != nil {
		t.Error("an object that nobody names is in memory")
	}
	update := func(c *corev1.ConfigMap) {
		t.Helper()
		if _, err := client.CoreV1().ConfigMaps("ns").Update(t.Context(), c, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(value string) func(*source.Snapshot) bool {
		return func(s *source.Snapshot) bool {
			c := s.ConfigMaps[key("headers")]
			return c != nil && c.Data["X-A"] == value
		}
	}
	update(configMap("settings", "2", map[string]string{"add-headers": "headers"}))
	until(t, s, "a ConfigMap that is named", has("1"))
	until(t, s, "a Secret that is named", func(s *source.Snapshot) bool { return s.Secrets[key("dh")] != nil })
	update(configMap("headers", "2", map[string]string{"X-A": "2"}))
	until(t, s, "its change", has("2"))
	update(configMap("settings", "3", nil))
	until(t, s, "settings that do not name it", func(s *source.Snapshot) bool { return len(s.ConfigMaps[key("settings")].Data) == 0 })
	update(configMap("headers", "3", map[string]string{"X-A": "3"}))
	for deadline := time.Now().Add(10 * time.Second); s.Snapshot().ConfigMaps[key("headers")] != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the content stays although nobody names it")
		}
	}
}

// withVersion plays the API server, which the fake does not: every write has another version.
func withVersion(s *corev1.Secret) *corev1.Secret {
	s.ResourceVersion = fmt.Sprint(time.Now().UnixNano())
	return s
}

func TestUnchangedTablesAndObjectsAreShared(t *testing.T) {
	service := &corev1.Service{ObjectMeta: meta("ns", "web")}
	s, client := start(t, Options{}, service, slice("a", "web", "10.0.0.1"), slice("b", "web", "10.0.0.2"), slice("c", "other", "10.0.0.3"))
	web := source.Key{Namespace: "ns", Name: "web"}
	before := s.Snapshot()
	if list := before.EndpointSlices[web]; len(list) != 2 || list[0].Name != "a" {
		t.Fatalf("slices %v", list)
	}
	// A write that says the same does not make another object.
	same := slice("a", "web", "10.0.0.1")
	same.Annotations = map[string]string{"endpoints.kubernetes.io/last-change-trigger-time": "now"}
	if _, err := client.DiscoveryV1().EndpointSlices("ns").Update(t.Context(), same, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.DiscoveryV1().EndpointSlices("ns").Update(t.Context(), slice("b", "web", "10.0.0.9"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	after := until(t, s, "the change", func(s *source.Snapshot) bool {
		return s.EndpointSlices[web][1].Endpoints[0].Addresses[0] == "10.0.0.9"
	})
	if after.EndpointSlices[web][0] != before.EndpointSlices[web][0] {
		t.Error("an unchanged slice became another object")
	}
	if before.EndpointSlices[web][1].Endpoints[0].Addresses[0] != "10.0.0.2" {
		t.Error("a snapshot changed after it was given out")
	}
	if fmt.Sprintf("%p", after.Services) != fmt.Sprintf("%p", before.Services) {
		t.Error("the table of an unchanged kind was copied")
	}
}

func TestWithoutTheRightToReadClasses(t *testing.T) {
	s, _ := start(t, Options{}, ingressWithTLS("a"))
	if s.Snapshot().IngressClasses == nil {
		t.Error("no classes look like classes that may not be read")
	}
	client := fake.NewClientset(ingressWithTLS("a"))
	client.PrependReactor("list", "ingressclasses", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(netv1.Resource("ingressclasses"), "", nil)
	})
	s = run(t, Options{}, client)
	if snapshot := s.Snapshot(); snapshot.IngressClasses != nil || len(snapshot.Ingresses) != 1 {
		t.Errorf("classes %v, %d Ingresses", snapshot.IngressClasses, len(snapshot.Ingresses))
	}
}

// TestRightToReadClassesComes has the right given a moment after the start, as when an installation makes pods and rights at once, and long after.
func TestRightToReadClassesComes(t *testing.T) {
	class := &netv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "nginx"}}
	for name, denied := range map[string]time.Duration{"at once": classRetry, "later": classPatience + classLook} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(ingressWithTLS("a"), class)
				begun := time.Now()
				client.PrependReactor("list", "ingressclasses", func(k8stesting.Action) (bool, runtime.Object, error) {
					return time.Since(begun) <= denied, nil, apierrors.NewForbidden(netv1.Resource("ingressclasses"), "", nil)
				})
				s := run(t, Options{}, client)
				time.Sleep(denied + classLook)
				synctest.Wait()
				if classes := s.Snapshot().IngressClasses; classes["nginx"] == nil {
					t.Errorf("classes %v", classes)
				}
			})
		})
	}
}

func TestIngressesStayInOrder(t *testing.T) {
	s, client := start(t, Options{}, ingressWithTLS("b"), ingressWithTLS("a"))
	old := ingressWithTLS("old")
	old.CreationTimestamp = metav1.Unix(-62135596800-10, 0) // before the zero time that the others have
	if _, err := client.NetworkingV1().Ingresses("ns").Create(t.Context(), old, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	names := func(s *source.Snapshot) string {
		text := ""
		for _, i := range s.Ingresses {
			text += i.Name + " "
		}
		return text
	}
	until(t, s, "the oldest first", func(s *source.Snapshot) bool { return names(s) == "old b a " })
	if err := client.NetworkingV1().Ingresses("ns").Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, s, "one less", func(s *source.Snapshot) bool { return names(s) == "old a " })
}

func BenchmarkSnapshotAfterOneEndpointChange(b *testing.B) {
	s := New(Options{})
	for i := range 10000 {
		name := fmt.Sprintf("s%05d", i)
		s.ingresses.replace(nil, ingressWithTLS(name))
		s.services.set(source.Key{Namespace: "ns", Name: name}, &corev1.Service{})
		s.slices.replace(nil, slice(name, name, "10.0.0.1"))
	}
	for i := 0; b.Loop(); i++ {
		s.slices.replace(nil, slice("s00000", "s00000", fmt.Sprint(i)))
		s.Snapshot()
	}
}

// TestSameSlice demands that what changes nothing wakes nobody, and that a weight does.
func TestSameSlice(t *testing.T) {
	one := slice("a", "web", "10.0.0.1")
	for annotation, same := range map[string]bool{"endpoints.kubernetes.io/last-change-trigger-time": true, source.WeightAnnotation: false} {
		two := one.DeepCopy()
		two.Annotations = map[string]string{annotation: "2"}
		if sameSlice(one, two) != same {
			t.Errorf("another %s is the same: %v", annotation, !same)
		}
	}
}
