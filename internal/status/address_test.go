// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "none",
		"192.0.2.1":                     "192.0.2.1",
		"192.0.2.2, 192.0.2.1":          "192.0.2.1, 192.0.2.2",
		"edge.example,192.0.2.1":        "192.0.2.1, edge.example",
		"2001:db8::1,192.0.2.1,":        "192.0.2.1, 2001:db8::1",
		"192.0.2.1,192.0.2.1,192.0.2.1": "192.0.2.1",
	} {
		if got := Parse(text).String(); got != want {
			t.Errorf("%q gives %s, want %s", text, got, want)
		}
	}
}

func TestOfService(t *testing.T) {
	balancer := func(list ...corev1.LoadBalancerIngress) corev1.ServiceStatus {
		return corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: list}}
	}
	for _, c := range []struct {
		title  string
		spec   corev1.ServiceSpec
		status corev1.ServiceStatus
		want   string
	}{
		{"external name", corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "edge.example"}, corev1.ServiceStatus{}, "edge.example"},
		{"cluster IP", corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1"}, corev1.ServiceStatus{}, "10.0.0.1"},
		{"headless", corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone}, corev1.ServiceStatus{}, "none"},
		{"node port", corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ClusterIP: "10.0.0.1"}, corev1.ServiceStatus{}, "10.0.0.1"},
		{
			"node port with external IPs",
			corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ClusterIP: "10.0.0.1", ExternalIPs: []string{"192.0.2.9", "192.0.2.8"}}, corev1.ServiceStatus{},
			"192.0.2.8, 192.0.2.9",
		},
		{"a load balancer that is still to come", corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIP: "10.0.0.1"}, corev1.ServiceStatus{}, "none"},
		{
			"load balancer", corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ExternalIPs: []string{"192.0.2.9", "192.0.2.1"}},
			balancer(corev1.LoadBalancerIngress{IP: "192.0.2.1", Ports: []corev1.PortStatus{{Port: 80}}}, corev1.LoadBalancerIngress{Hostname: "lb.example"}),
			"192.0.2.1, 192.0.2.9, lb.example",
		},
	} {
		if got := OfService(&corev1.Service{Spec: c.spec, Status: c.status}).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.title, got, c.want)
		}
	}
}

func TestOfNodes(t *testing.T) {
	node := func(pairs ...string) *corev1.Node {
		n := &corev1.Node{}
		for i := 0; i < len(pairs); i += 2 {
			n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeAddressType(pairs[i]), Address: pairs[i+1]})
		}
		return n
	}
	nodes := []*corev1.Node{
		node("InternalIP", "10.0.0.2", "ExternalIP", "192.0.2.2", "Hostname", "two"),
		node("InternalIP", "10.0.0.1"),
		node("InternalIP", "10.0.0.2", "ExternalIP", "192.0.2.2"),
	}
	if got := OfNodes(nodes, false).String(); got != "10.0.0.1, 192.0.2.2" {
		t.Errorf("external where there are: %s", got)
	}
	if got := OfNodes(nodes, true).String(); got != "10.0.0.1, 10.0.0.2" {
		t.Errorf("internal: %s", got)
	}
}

func TestSame(t *testing.T) {
	ip := func(list ...string) netv1.IngressLoadBalancerStatus {
		return netv1.IngressLoadBalancerStatus{Ingress: Addresses(nil).with(list...)}
	}
	wanted := Parse("192.0.2.1,edge.example")
	for _, c := range []struct {
		status netv1.IngressLoadBalancerStatus
		want   bool
	}{
		{ip("192.0.2.1", "edge.example"), true},
		{ip("edge.example", "192.0.2.1"), true},
		{ip("192.0.2.1"), false},
		{ip("192.0.2.1", "192.0.2.2"), false},
		{ip(), false},
		{netv1.IngressLoadBalancerStatus{Ingress: []netv1.IngressLoadBalancerIngress{{Hostname: "edge.example"}, {IP: "192.0.2.1", Ports: []netv1.IngressPortStatus{{Port: 80}}}}}, false},
	} {
		if got := wanted.same(c.status); got != c.want {
			t.Errorf("%v: %v", c.status, got)
		}
	}
}
