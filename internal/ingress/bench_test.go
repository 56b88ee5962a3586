// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fairway-ingress/fairway/internal/source"
)

// largeCluster has n Ingresses, each with a host, a Service with two endpoints, and a Secret shared by a hundred.
func largeCluster(b testing.TB, n int) *source.Snapshot {
	s := newSnapshot()
	prefix := netv1.PathTypePrefix
	chain, key := newCertificate(b, "ECDSA", []string{"*.bench.example"}, time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC))
	for i := range n {
		namespace := fmt.Sprintf("tenant-%d", i/100)
		name := fmt.Sprintf("app-%05d", i)
		id := source.Key{Namespace: namespace, Name: name}

		service := &corev1.Service{}
		service.Namespace, service.Name = namespace, name
		service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}}
		s.Services[id] = service
		s.EndpointSlices[id] = []*discoveryv1.EndpointSlice{benchSlice(name, i, 2)}

		secret := source.Key{Namespace: namespace, Name: "wildcard"}
		if s.Secrets[secret] == nil {
			object := &corev1.Secret{Data: map[string][]byte{corev1.TLSCertKey: chain, corev1.TLSPrivateKeyKey: key}}
			object.Namespace, object.Name = secret.Namespace, secret.Name
			s.Secrets[secret] = object
		}

		ing := &netv1.Ingress{}
		ing.Namespace, ing.Name = namespace, name
		host := name + ".bench.example"
		backend := netv1.IngressBackend{Service: &netv1.IngressServiceBackend{Name: name, Port: netv1.ServiceBackendPort{Number: 80}}}
		ing.Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-body-size": "8m"}
		ing.Spec.TLS = []netv1.IngressTLS{{Hosts: []string{host}, SecretName: "wildcard"}}
		ing.Spec.Rules = []netv1.IngressRule{{Host: host, IngressRuleValue: netv1.IngressRuleValue{HTTP: &netv1.HTTPIngressRuleValue{
			Paths: []netv1.HTTPIngressPath{{Path: "/", PathType: &prefix, Backend: backend}, {Path: "/api", PathType: &prefix, Backend: backend}},
		}}}}
		s.Ingresses = append(s.Ingresses, ing)
	}
	slices.SortFunc(s.Ingresses, source.Older)
	return s
}

func benchSlice(name string, i, endpoints int) *discoveryv1.EndpointSlice {
	number, portName := int32(8080), "http"
	slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &portName, Port: &number}}}
	slice.Name = name
	for e := range endpoints {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("10.%d.%d.%d", e, i/250%250, i%250+1)}})
	}
	return slice
}

const benchSize = 10_000

func BenchmarkCold(b *testing.B) {
	snapshot := largeCluster(b, benchSize)
	b.ResetTimer()
	for b.Loop() {
		NewBuilder(Options{WatchWithoutClass: true}).Build(snapshot)
	}
}

// BenchmarkWarmEndpoint changes the endpoints of one Service per build.
func BenchmarkWarmEndpoint(b *testing.B) {
	snapshot := largeCluster(b, benchSize)
	builder := NewBuilder(Options{WatchWithoutClass: true})
	builder.Build(snapshot)
	id := source.Key{Namespace: "tenant-3", Name: "app-00345"}
	variants := [][]*discoveryv1.EndpointSlice{{benchSlice("a", 1, 1)}, {benchSlice("a", 1, 3)}}
	n := 0
	for b.Loop() {
		snapshot.EndpointSlices = maps.Clone(snapshot.EndpointSlices) // as sources do
		snapshot.EndpointSlices[id] = variants[n%2]
		n++
		builder.Build(snapshot)
	}
}

// BenchmarkWarmIngress changes the annotations of one Ingress per build.
func BenchmarkWarmIngress(b *testing.B) {
	snapshot := largeCluster(b, benchSize)
	builder := NewBuilder(Options{WatchWithoutClass: true})
	builder.Build(snapshot)
	n := 0
	for b.Loop() {
		ing := snapshot.Ingresses[5000].DeepCopy()
		ing.Annotations = maps.Clone(ing.Annotations)
		ing.Annotations["nginx.ingress.kubernetes.io/proxy-body-size"] = fmt.Sprintf("%dm", n%2+1)
		n++
		snapshot.Ingresses = slices.Clone(snapshot.Ingresses)
		snapshot.Ingresses[5000] = ing
		builder.Build(snapshot)
	}
}

// BenchmarkWarmNewHost adds and removes the youngest Ingress and its host.
func BenchmarkWarmNewHost(b *testing.B) {
	snapshot := largeCluster(b, benchSize)
	builder := NewBuilder(Options{WatchWithoutClass: true})
	builder.Build(snapshot)
	all := snapshot.Ingresses
	n := 0
	for b.Loop() {
		snapshot.Ingresses = all[:len(all)-n%2]
		n++
		builder.Build(snapshot)
	}
}

// BenchmarkWarmOneHost changes one of as many Ingresses that share one host.
func BenchmarkWarmOneHost(b *testing.B) {
	snapshot := largeCluster(b, benchSize)
	for i, ing := range snapshot.Ingresses {
		ing.Spec.Rules[0].Host = "shared.bench.example"
		ing.Spec.TLS = nil
		ing.Spec.Rules[0].HTTP.Paths = ing.Spec.Rules[0].HTTP.Paths[:1]
		ing.Spec.Rules[0].HTTP.Paths[0].Path = fmt.Sprintf("/app/%d", i)
	}
	builder := NewBuilder(Options{WatchWithoutClass: true})
	builder.Build(snapshot)
	n := 0
	for b.Loop() {
		ing := snapshot.Ingresses[5000].DeepCopy()
		ing.Annotations["nginx.ingress.kubernetes.io/proxy-body-size"] = fmt.Sprintf("%dm", n%2+1)
		n++
		snapshot.Ingresses = slices.Clone(snapshot.Ingresses)
		snapshot.Ingresses[5000] = ing
		builder.Build(snapshot)
	}
}

// BenchmarkWarmAllBroken has two problems for every Ingress.
func BenchmarkWarmAllBroken(b *testing.B) {
	snapshot := largeCluster(b, benchSize)
	clear(snapshot.EndpointSlices)
	builder := NewBuilder(Options{WatchWithoutClass: true})
	builder.Build(snapshot)
	all := snapshot.Ingresses
	n := 0
	for b.Loop() {
		snapshot.Ingresses = all[:len(all)-n%2]
		n++
		builder.Build(snapshot)
	}
}
