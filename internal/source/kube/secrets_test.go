// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fairway-ingress/fairway/internal/source"
)

func secretIn(namespace, name string, labels map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}, Data: map[string][]byte{"key": []byte("1")}}
}

func TestSecretsOfChosenNamespacesOnly(t *testing.T) {
	inOther := ingressWithTLS("other", "b")
	inOther.Namespace = "other"
	pinned := source.Key{Namespace: "fairway", Name: "default"}
	s, client := start(t, Options{References: tlsSecrets, SecretNamespaces: []string{"ns", "more"}, Secrets: []source.Key{pinned}},
		ingressWithTLS("web", "a"), inOther, secretIn("ns", "a", nil), secretIn("other", "b", nil), secretIn("fairway", "default", nil), secretIn("ns", "later", nil))
	first := s.Snapshot()
	for key, want := range map[source.Key]bool{{Namespace: "ns", Name: "a"}: true, {Namespace: "other", Name: "b"}: false, pinned: true} {
		if _, found := first.Secrets[key]; found != want {
			t.Errorf("Secret %s: %v, want %v", key, found, want)
		}
	}
	for _, namespace := range []string{"other", "ns"} {
		later := ingressWithTLS("later", "later")
		later.Namespace = namespace
		if _, err := client.NetworkingV1().Ingresses(namespace).Create(t.Context(), later, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, s, "a Secret named later", func(s *source.Snapshot) bool { return s.Secrets[source.Key{Namespace: "ns", Name: "later"}] != nil })
	for _, action := range client.Actions() {
		if action.GetResource().Resource == "secrets" && !slices.Contains([]string{"ns", "more", "fairway"}, action.GetNamespace()) {
			t.Errorf("the API was asked to %s secrets of %q", action.GetVerb(), action.GetNamespace())
		}
	}
}

func TestLabelledSecretsOnly(t *testing.T) {
	selector := labels.SelectorFromSet(labels.Set{"for": "ingress"})
	labelled := map[string]string{"for": "ingress"}
	key := func(name string) source.Key { return source.Key{Namespace: "ns", Name: name} }
	s, client := start(t, Options{References: tlsSecrets, SecretSelector: selector, Secrets: []source.Key{key("pinned")}},
		ingressWithTLS("web", "a"), secretIn("ns", "a", labelled), secretIn("ns", "pinned", nil),
		secretIn("ns", "later", labelled), secretIn("ns", "never", nil))
	first := s.Snapshot()
	for name, want := range map[string]bool{"a": true, "pinned": true} {
		if _, found := first.Secrets[key(name)]; found != want {
			t.Errorf("Secret %s: %v, want %v", name, found, want)
		}
	}
	for _, action := range client.Actions() { // the fake does not select in watches, so look at what it was asked
		watch, ok := action.(clienttesting.WatchAction)
		if !ok || action.GetResource().Resource != "secrets" {
			continue
		}
		if r := watch.GetWatchRestrictions(); r.Fields.Empty() && r.Labels.String() != "for=ingress" {
			t.Errorf("Secrets are watched with the labels %q", r.Labels)
		}
	}
	if _, err := client.NetworkingV1().Ingresses("ns").Create(t.Context(), ingressWithTLS("more", "never", "later"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	after := until(t, s, "a Secret named later", func(s *source.Snapshot) bool { return s.Secrets[key("later")] != nil })
	if after.Secrets[key("never")] != nil {
		t.Error("a Secret without the label was read")
	}
}
