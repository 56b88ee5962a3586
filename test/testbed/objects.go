// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Namespace makes a Kubernetes namespace named for the test and removes it afterwards.
func (s *Scene) Namespace(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	_, err := s.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.Client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return name
}

// NewIngress leads host and Prefix path to a port of a Service.
func NewIngress(class, name, host, path, service string, port int32) *netv1.Ingress {
	prefix := netv1.PathTypePrefix
	return &netv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: netv1.IngressSpec{
			IngressClassName: &class,
			Rules: []netv1.IngressRule{{Host: host, IngressRuleValue: netv1.IngressRuleValue{HTTP: &netv1.HTTPIngressRuleValue{
				Paths: []netv1.HTTPIngressPath{{Path: path, PathType: &prefix, Backend: netv1.IngressBackend{
					Service: &netv1.IngressServiceBackend{Name: service, Port: netv1.ServiceBackendPort{Number: port}},
				}}},
			}}}},
		},
	}
}

// CreateIngress creates an Ingress.
func (s *Scene) CreateIngress(t *testing.T, namespace string, ingress *netv1.Ingress) {
	t.Helper()
	if _, err := s.Client.NetworkingV1().Ingresses(namespace).Create(t.Context(), ingress, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// UpdateIngress changes an Ingress, again if somebody else wrote it meanwhile.
func (s *Scene) UpdateIngress(t *testing.T, namespace, name string, change func(*netv1.Ingress)) {
	t.Helper()
	ingresses := s.Client.NetworkingV1().Ingresses(namespace)
	for range 10 {
		ingress, err := ingresses.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		change(ingress)
		if _, err = ingresses.Update(t.Context(), ingress, metav1.UpdateOptions{}); err == nil {
			return
		}
	}
	t.Fatalf("ingress %s/%s can't be updated", namespace, name)
}

// EchoContainer runs the echo server of the test cluster on port 8080.
func EchoContainer() corev1.Container {
	return corev1.Container{
		Name: "echo", Image: "example.test/echo", Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}},
			PeriodSeconds: 1,
		},
	}
}

// EchoService leads port 80 to the echo servers in pods with a label app of its own name.
func (s *Scene) EchoService(t *testing.T, namespace, name string) {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}},
	}
	if _, err := s.Client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// NewTLSSecret makes a Secret with a fresh certificate for a host; the serial number tells two apart.
func NewTLSSecret(name, host string, serial int64) (*corev1.Secret, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{
			corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
			corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
		},
	}, nil
}
