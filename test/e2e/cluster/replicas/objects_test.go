// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

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

// newIngress leads host and Prefix path / to port 80 of Service web.
func newIngress(name, host string) *netv1.Ingress {
	class, prefix := className, netv1.PathTypePrefix
	return &netv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: netv1.IngressSpec{
			IngressClassName: &class,
			Rules: []netv1.IngressRule{{Host: host, IngressRuleValue: netv1.IngressRuleValue{HTTP: &netv1.HTTPIngressRuleValue{
				Paths: []netv1.HTTPIngressPath{{Path: "/", PathType: &prefix, Backend: netv1.IngressBackend{
					Service: &netv1.IngressServiceBackend{Name: "web", Port: netv1.ServiceBackendPort{Number: 80}},
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

// deploy runs a pod of the echo server behind Service web.
func (e *environment) deploy(t *testing.T, namespace string) {
	t.Helper()
	labels := map[string]string{"app": "web"}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "echo", Image: "example.test/echo", Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}}, PeriodSeconds: 1},
		}}},
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}},
	}
	if _, err := e.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// addresses gives what the status of an Ingress says, "" if nothing.
func (e *environment) addresses(t *testing.T, namespace, name string) string {
	t.Helper()
	i, err := e.client.NetworkingV1().Ingresses(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, a := range i.Status.LoadBalancer.Ingress {
		list = append(list, a.IP+a.Hostname)
	}
	return joined(list)
}

// joined gives a list in the order in which addresses compares.
func joined(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ",")
}

func (e *environment) eventuallyAddresses(t *testing.T, namespace, name, want string) {
	t.Helper()
	eventually(t, "status of "+name+" says "+want, func() bool { return e.addresses(t, namespace, name) == want })
}

// events gives the reasons of the Events about an object, each with its message.
func (e *environment) events(t *testing.T, namespace, name string) map[string]string {
	t.Helper()
	list, err := e.client.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range list.Items {
		if e.Source.Component == "nginx-ingress-controller" {
			found[e.Reason] = e.Message
		}
	}
	return found
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
