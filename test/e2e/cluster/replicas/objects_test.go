// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// newIngress leads host and Prefix path / to port 80 of Service web.
func newIngress(name, host string) *netv1.Ingress {
	return testbed.NewIngress(className, name, host, "/", "web", 80)
}

// deploy runs a pod of the echo server behind Service web.
func (e *environment) deploy(t *testing.T, namespace string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{testbed.EchoContainer()}},
	}
	if _, err := e.Client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.EchoService(t, namespace, "web")
}

// addresses gives what the status of an Ingress says, "" if nothing.
func (e *environment) addresses(t *testing.T, namespace, name string) string {
	t.Helper()
	i, err := e.Client.NetworkingV1().Ingresses(namespace).Get(t.Context(), name, metav1.GetOptions{})
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
	list, err := e.Client.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
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
