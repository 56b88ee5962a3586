// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// deploy runs pods of the echo server behind a Service of the same name, port 80.
func (e *environment) deploy(t *testing.T, namespace, name string, replicas int32) {
	t.Helper()
	labels := map[string]string{"app": name}
	grace := int64(20)
	echo := testbed.EchoContainer()
	// A well-behaved backend goes on serving until everybody has heard that it leaves.
	echo.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 2}}}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{echo}},
			},
		},
	}
	if _, err := e.Client.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.EchoService(t, namespace, name)
}

// scale sets the number of replicas, again if somebody else wrote the Deployment meanwhile.
func (e *environment) scale(t *testing.T, namespace, name string, replicas int32) {
	t.Helper()
	deployments := e.Client.AppsV1().Deployments(namespace)
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
	services := e.Client.CoreV1().Services(namespace)
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
	return testbed.NewIngress(className, name, host, path, service, 80)
}

// newTLSSecret makes a Secret with a fresh certificate for a host; the serial number tells two apart.
func newTLSSecret(t *testing.T, name, host string, serial int64) *corev1.Secret {
	t.Helper()
	secret, err := testbed.NewTLSSecret(name, host, serial)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
