// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/fairway-ingress/fairway/internal/source"
)

// registration has a webhook of ours, one of another Service and one with a URL.
func registration() *admissionregv1.ValidatingWebhookConfiguration {
	url := "https://elsewhere.example"
	service := func(name string) admissionregv1.WebhookClientConfig {
		return admissionregv1.WebhookClientConfig{Service: &admissionregv1.ServiceReference{Namespace: "fairway", Name: name}}
	}
	return &admissionregv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "admission"}, Webhooks: []admissionregv1.ValidatingWebhook{
		{Name: "foreign.example", ClientConfig: service("other")}, {Name: "ours.example", ClientConfig: service("hook")},
		{Name: "url.example", ClientConfig: admissionregv1.WebhookClientConfig{URL: &url}},
	}}
}

func newSelfMade(client *fake.Clientset) *SelfMade {
	return &SelfMade{
		Client: client, Secret: source.Key{Namespace: "fairway", Name: "admission"}, Service: source.Key{Namespace: "fairway", Name: "hook"},
		Configuration: "admission", Lifetime: 90 * 24 * time.Hour, Log: quiet,
	}
}

func bundles(t *testing.T, client *fake.Clientset) map[string][]byte {
	t.Helper()
	c, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "admission", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for _, w := range c.Webhooks {
		found[w.Name] = w.ClientConfig.CABundle
	}
	return found
}

func secretOf(t *testing.T, client *fake.Clientset) *corev1.Secret {
	t.Helper()
	secret, err := client.CoreV1().Secrets("fairway").Get(t.Context(), "admission", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func inForce(t *testing.T, s *SelfMade) *tls.Certificate {
	t.Helper()
	c, err := s.Certificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReplicasShareACertificate starts ten at once.
func TestReplicasShareACertificate(t *testing.T) {
	client := fake.NewClientset(registration())
	if _, err := newSelfMade(client).Certificate(nil); err == nil {
		t.Error("there is a certificate before there is one")
	}
	replicas := make([]*SelfMade, 10)
	var running sync.WaitGroup
	for i := range replicas {
		replicas[i] = newSelfMade(client)
		running.Go(func() {
			if _, err := replicas[i].step(t.Context(), time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	secret := secretOf(t, client)
	for _, r := range replicas {
		if !sameChain(inForce(t, r), inForce(t, replicas[0])) {
			t.Error("two replicas have different certificates")
		}
	}
	found := bundles(t, client)
	if !bytes.Equal(found["ours.example"], secret.Data[authoritiesKey]) || len(found["foreign.example"])+len(found["url.example"]) > 0 || len(found) != 3 {
		t.Errorf("caBundles: %q", found)
	}
	wait, err := replicas[0].step(t.Context(), time.Now())
	if err != nil || wait != glance {
		t.Errorf("the next step is in %v: %v", wait, err)
	}
}

// TestRenewal has two replicas see that the certificate is due; of their writes the API server takes one.
func TestRenewal(t *testing.T) {
	client := fake.NewClientset(registration())
	refuseStale(client)
	one, two := newSelfMade(client), newSelfMade(client)
	now := time.Now()
	for _, s := range []*SelfMade{one, two} {
		if _, err := s.step(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	first := inForce(t, one)
	later := now.Add(61 * 24 * time.Hour)
	for _, s := range []*SelfMade{one, two} {
		if _, err := s.step(t.Context(), later); err != nil {
			t.Fatal(err)
		}
	}
	if sameChain(inForce(t, one), first) || !sameChain(inForce(t, one), inForce(t, two)) {
		t.Error("not renewed, or twice")
	}
	wait, err := one.step(t.Context(), inForce(t, one).Leaf.NotAfter.Add(-30*24*time.Hour-time.Minute))
	if err != nil || wait != time.Minute {
		t.Errorf("the next step is in %v: %v", wait, err)
	}
}

// refuseStale makes the fake API compare versions, as the real one does.
func refuseStale(client *fake.Clientset) {
	client.PrependReactor("update", "secrets", func(action k8stesting.Action) (bool, runtime.Object, error) {
		given := action.(k8stesting.UpdateAction).GetObject().(*corev1.Secret)
		stored, err := client.Tracker().Get(corev1.SchemeGroupVersion.WithResource("secrets"), given.Namespace, given.Name)
		if err == nil && stored.(*corev1.Secret).ResourceVersion != given.ResourceVersion {
			return true, nil, apierrors.NewConflict(corev1.Resource("secrets"), given.Name, nil)
		}
		return false, nil, nil
	})
}

// TestForeignSecretIsCompleted finds the Secret of the predecessor's jobs: its keys stay, so that there is a way back.
func TestForeignSecretIsCompleted(t *testing.T) {
	client := fake.NewClientset(registration(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fairway", Name: "admission"}, Data: map[string][]byte{"ca": []byte("1"), "cert": []byte("2"), "key": []byte("3")},
	})
	s := newSelfMade(client)
	if _, err := s.step(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if data := secretOf(t, client).Data; len(data) != 7 || string(data["cert"]) != "2" {
		t.Errorf("%d keys", len(data))
	}
	inForce(t, s)
}

// TestTrustIsRepaired takes the bundle out, as an upgrade by Helm does, while Run watches.
func TestTrustIsRepaired(t *testing.T) {
	client := fake.NewClientset(registration())
	s := newSelfMade(client)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	trusted := func() bool { return len(bundles(t, client)["ours.example"]) > 0 }
	await(t, "the first bundle", trusted)
	time.Sleep(100 * time.Millisecond) // the fake's watches begin late
	if _, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(ctx, registration(), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the bundle again", trusted)
}

// TestOldCertificateStaysUntilTrusted keeps what the API server trusts while it cannot be told of something new.
func TestOldCertificateStaysUntilTrusted(t *testing.T) {
	client := fake.NewClientset(registration())
	s := newSelfMade(client)
	if _, err := s.step(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	first := inForce(t, s)
	if err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "admission", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.step(t.Context(), time.Now().Add(61*24*time.Hour)); err == nil || !sameChain(inForce(t, s), first) {
		t.Errorf("another certificate is used: %v", err)
	}
	if _, err := s.step(t.Context(), time.Now().Add(91*24*time.Hour)); err == nil || sameChain(inForce(t, s), first) {
		t.Errorf("the expired certificate is used: %v", err)
	}
}

func TestWrongRegistration(t *testing.T) {
	wrong := registration()
	wrong.Webhooks = wrong.Webhooks[:1]
	s := newSelfMade(fake.NewClientset(wrong))
	_, err := s.step(t.Context(), time.Now())
	if err == nil || !strings.Contains(err.Error(), "has no webhook with the Service fairway/hook") {
		t.Error(err)
	}
	inForce(t, s) // somebody may have set caBundle by hand
}
