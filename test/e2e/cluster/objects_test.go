// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

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

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// namespace makes a Kubernetes namespace named for the test and removes it afterwards.
func (e *environment) namespace(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	_, err := e.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := e.client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return name
}

// deploy runs pods of the echo server behind a Service of the same name, port 80.
func (e *environment) deploy(t *testing.T, namespace, name string, replicas int32) {
	t.Helper()
	labels := map[string]string{"app": name}
	grace := int64(20)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: &grace,
					Containers: []corev1.Container{{
						Name: "echo", Image: "example.test/echo", Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
						ReadinessProbe: &corev1.Probe{
							ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}},
							PeriodSeconds: 1,
						},
						// A well-behaved backend goes on serving until everybody has heard that it leaves.
						Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 2}}},
					}},
				},
			},
		},
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}},
	}
	if _, err := e.client.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// scale sets the number of replicas, again if somebody else wrote the Deployment meanwhile.
func (e *environment) scale(t *testing.T, namespace, name string, replicas int32) {
	t.Helper()
	deployments := e.client.AppsV1().Deployments(namespace)
	var err error
	for range 10 {
		var scale *autoscalingv1.Scale
		if scale, err = deployments.GetScale(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		scale.Spec.Replicas = replicas
		if _, err = deployments.UpdateScale(t.Context(), name, scale, metav1.UpdateOptions{}); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// setServicePort changes the port of a Service; its pods stay.
func (e *environment) setServicePort(t *testing.T, namespace, name string, port int32) {
	t.Helper()
	services := e.client.CoreV1().Services(namespace)
	service, err := services.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	service.Spec.Ports[0].Port = port
	if _, err := services.Update(t.Context(), service, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// newIngress leads host and Prefix path to port 80 of a Service.
func newIngress(name, host, path, service string) *netv1.Ingress {
	class, prefix := className, netv1.PathTypePrefix
	return &netv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: netv1.IngressSpec{
			IngressClassName: &class,
			Rules: []netv1.IngressRule{{Host: host, IngressRuleValue: netv1.IngressRuleValue{HTTP: &netv1.HTTPIngressRuleValue{
				Paths: []netv1.HTTPIngressPath{{Path: path, PathType: &prefix, Backend: netv1.IngressBackend{
					Service: &netv1.IngressServiceBackend{Name: service, Port: netv1.ServiceBackendPort{Number: 80}},
				}}},
			}}}},
		},
	}
}

func (e *environment) createIngress(t *testing.T, namespace string, ingress *netv1.Ingress) {
	t.Helper()
	if _, err := e.client.NetworkingV1().Ingresses(namespace).Create(t.Context(), ingress, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// updateIngress changes an Ingress, again if somebody else wrote it meanwhile.
func (e *environment) updateIngress(t *testing.T, namespace, name string, change func(*netv1.Ingress)) {
	t.Helper()
	ingresses := e.client.NetworkingV1().Ingresses(namespace)
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

// newTLSSecret makes a Secret with a fresh certificate for a host; the serial number tells two apart.
func newTLSSecret(t *testing.T, name, host string, serial int64) *corev1.Secret {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{
			corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
			corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
		},
	}
}
