// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

func pointer[T any](v T) *T { return &v }

// indexer is an informer's cache that holds the objects.
func indexer[T any](objects ...T) cache.Indexer {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, o := range objects {
		if err := store.Add(o); err != nil {
			panic(err)
		}
	}
	return store
}

func service(name, clusterIP string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.ServiceSpec{ClusterIP: clusterIP, Ports: []corev1.ServicePort{
			{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, NodePort: 30080},
		}},
	}
}

// slice has an endpoint at port 8080 for each address; of these the ready ones come first.
func slice(service string, ready int, addresses ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: service + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		Ports:      []discoveryv1.EndpointPort{{Name: pointer("http"), Port: pointer(int32(8080))}},
	}
	for i, a := range addresses {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{a}, NodeName: pointer(fmt.Sprintf("node-%d", i+1)),
			Conditions: discoveryv1.EndpointConditions{Ready: pointer(i < ready), Serving: pointer(true)},
		})
	}
	return s
}

func TestBackends(t *testing.T) {
	port := service("web", "").Spec.Ports[0]
	for _, c := range []struct {
		name, node, want string
		slice            *discoveryv1.EndpointSlice
	}{
		{"sorted", "", "10.244.1.1 10.244.1.2", slice("web", 2, "10.244.1.2", "10.244.1.1")},
		{"ready before terminating", "", "10.244.1.1", slice("web", 1, "10.244.1.1", "10.244.1.2")},
		{"terminating if nothing is ready", "", "10.244.1.1 10.244.1.2", slice("web", 0, "10.244.1.1", "10.244.1.2")},
		{"those of a node", "node-2", "10.244.1.2", slice("web", 2, "10.244.1.1", "10.244.1.2")},
		{"none", "", "", slice("web", 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, b := range backendsOf([]*discoveryv1.EndpointSlice{c.slice}, port, c.node) {
				got = append(got, b.ip)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

func TestProxyRules(t *testing.T) {
	balanced := service("web", "10.96.0.20")
	balanced.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "172.20.0.11"}}
	p := &proxier{
		r:        &runner{nodes: []*node{{name: "node-1", ip: "172.18.0.11"}}},
		services: corelisters.NewServiceLister(indexer(balanced, service("headless", corev1.ClusterIPNone))),
		slices:   discoverylisters.NewEndpointSliceLister(indexer(slice("web", 2, "10.244.1.1", "10.244.1.2"), slice("headless", 1, "10.244.1.9"))),
		pods:     corelisters.NewPodLister(indexer[*corev1.Pod]()),
	}
	rules := p.rules()
	for _, match := range []string{"10.96.0.20 tcp dport 80", "172.20.0.11 tcp dport 80", "172.18.0.11 tcp dport 30080"} {
		want := "ip daddr " + match + " meta l4proto tcp dnat to numgen random mod 2 map { 0 : 10.244.1.1 . 8080, 1 : 10.244.1.2 . 8080 }"
		if !strings.Contains(rules, want) {
			t.Errorf("no rule %q in:\n%s", want, rules)
		}
	}
	if strings.Contains(rules, "10.244.1.9") {
		t.Error("a headless Service has no rules")
	}
	if p.rules() != rules {
		t.Error("the rules differ although nothing has changed")
	}
}

func TestDNS(t *testing.T) {
	d := &dnsServer{
		services: corelisters.NewServiceLister(indexer(service("web", "10.96.0.20"), service("headless", corev1.ClusterIPNone), &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "outside"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "web.shop.svc.cluster.local"},
		})),
		slices: discoverylisters.NewEndpointSliceLister(indexer(slice("headless", 2, "10.244.1.1", "10.244.1.2"))),
	}
	for _, c := range []struct {
		name   string
		kind   uint16
		want   []string
		exists bool
	}{
		{"web.shop.svc.cluster.local.", dns.TypeA, []string{"10.96.0.20"}, true},
		{"WEB.shop.svc.cluster.local.", dns.TypeA, []string{"10.96.0.20"}, true},
		{"web.shop.svc.cluster.local.", dns.TypeAAAA, nil, true},
		{"web.other.svc.cluster.local.", dns.TypeA, nil, false},
		{"headless.shop.svc.cluster.local.", dns.TypeA, []string{"10.244.1.1", "10.244.1.2"}, true},
		{"10-244-1-2.headless.shop.svc.cluster.local.", dns.TypeA, []string{"10.244.1.2"}, true},
		{"outside.shop.svc.cluster.local.", dns.TypeA, []string{"web.shop.svc.cluster.local.", "10.96.0.20"}, true},
		{"_http._tcp.web.shop.svc.cluster.local.", dns.TypeSRV, []string{"web.shop.svc.cluster.local.:80"}, true},
		{"example.test.", dns.TypeA, nil, false},
		{"shop.svc.cluster.local.", dns.TypeA, nil, false},
	} {
		answers, exists := d.answer(dns.Question{Name: c.name, Qtype: c.kind})
		var got []string
		for _, rr := range answers {
			switch rr := rr.(type) {
			case *dns.A:
				got = append(got, rr.A.String())
			case *dns.CNAME:
				got = append(got, rr.Target)
			case *dns.SRV:
				got = append(got, fmt.Sprintf("%s:%d", rr.Target, rr.Port))
			}
		}
		if !slices.Equal(got, c.want) || exists != c.exists {
			t.Errorf("%s %s: got %v, %t; want %v, %t", c.name, dns.TypeToString[c.kind], got, exists, c.want, c.exists)
		}
	}
}
