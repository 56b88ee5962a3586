// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

func TestExpired(t *testing.T) {
	end := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	chain, key := newCertificate(t, "ECDSA", []string{"h.example"}, end)
	secret := &corev1.Secret{Data: map[string][]byte{corev1.TLSCertKey: chain, corev1.TLSPrivateKeyKey: key}}
	secret.Namespace, secret.Name = "default", "cert"
	snapshot := newSnapshot()
	id := source.Key{Namespace: "default", Name: "cert"}
	snapshot.Secrets[id] = secret
	m := NewBuilder(Options{DefaultCertificate: id}).Build(snapshot).Model
	if problems := Expired(m, end.Add(-time.Hour)); len(problems) != 0 {
		t.Errorf("problems before the end: %v", problems)
	}
	problems := Expired(m, end.Add(time.Hour))
	if len(problems) != 1 || problems[0].Reason != model.ReasonCertificateExpired || !strings.Contains(problems[0].Message, "2026-05-01") {
		t.Errorf("problems after the end: %v", problems)
	}
}

// TestChainIsCleaned checks that text between the blocks, and a key in tls.crt, do not get into the chain.
func TestChainIsCleaned(t *testing.T) {
	chain, key := newCertificate(t, "RSA", []string{"h.example"}, time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC))
	secret := &corev1.Secret{Data: map[string][]byte{corev1.TLSCertKey: append([]byte("hello\n"), chain...), corev1.TLSPrivateKeyKey: key}}
	if c := readCertificate(secret); c.err != nil || strings.Contains(c.Chain, "hello") || c.Algorithm != "RSA" {
		t.Errorf("text before the chain: %v", c.err)
	}
	secret.Data[corev1.TLSCertKey] = append(append([]byte{}, chain...), key...)
	if c := readCertificate(secret); c.err == nil {
		t.Error("a key in tls.crt was accepted")
	}
	_, other := newCertificate(t, "ECDSA", nil, time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC))
	secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey] = chain, other
	if c := readCertificate(secret); c.err == nil {
		t.Error("a key of another certificate was accepted")
	}
}

func TestReferences(t *testing.T) {
	ing := &netv1.Ingress{}
	ing.Namespace = "a"
	ing.Spec.TLS = []netv1.IngressTLS{{SecretName: "one"}, {}, {SecretName: "two"}, {SecretName: "one"}}
	secrets, configMaps := References(Options{}, ing)
	want := []source.Key{{Namespace: "a", Name: "one"}, {Namespace: "a", Name: "two"}}
	if diff := cmp.Diff(want, secrets); diff != "" || configMaps != nil {
		t.Errorf("%s%v", diff, configMaps)
	}
}
