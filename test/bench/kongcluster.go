// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// kongCluster has n Ingresses, each with two paths, a Service of its own and two endpoints. Every second one has TLS by a certificate that a hundred
// share, every third a KongPlugin of its namespace, every fifth an annotation of Fairway's.
func kongCluster(n int, chain, key []byte) *source.Snapshot {
	s := &source.Snapshot{
		Services: map[source.Key]*corev1.Service{}, EndpointSlices: map[source.Key][]*discoveryv1.EndpointSlice{},
		Secrets: map[source.Key]*corev1.Secret{}, ConfigMaps: map[source.Key]*corev1.ConfigMap{},
		IngressClasses: map[string]*netv1.IngressClass{"kong": {
			ObjectMeta: metav1.ObjectMeta{Name: "kong"}, Spec: netv1.IngressClassSpec{Controller: konghq.DefaultControllerClass},
		}},
		Kong: &kongapi.Objects{Plugins: map[types.NamespacedName]*kongapi.KongPlugin{}},
	}
	for i := range n {
		meta := metav1.ObjectMeta{
			Namespace: fmt.Sprintf("tenant-%d", i/100), Name: fmt.Sprintf("app-%05d", i), UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)),
			CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000+int64(i/10), 0)),
		}
		id := source.Key{Namespace: meta.Namespace, Name: meta.Name}
		s.Services[id] = &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}},
		}}
		s.EndpointSlices[id] = kongSlices(meta, i, 1, 2)
		s.Ingresses = append(s.Ingresses, kongIngress(meta, i))
		if i%100 == 0 {
			addShared(s, meta, chain, key)
		}
	}
	slices.SortFunc(s.Ingresses, source.Older)
	return s
}

// addShared adds what the Ingresses of a namespace share.
func addShared(s *source.Snapshot, meta metav1.ObjectMeta, chain, key []byte) {
	meta.Name = "wildcard"
	own := slices.Concat(chain, []byte("# "+meta.Namespace+"\n")) // equal certificates would be one
	s.Secrets[source.Key{Namespace: meta.Namespace, Name: meta.Name}] = &corev1.Secret{
		ObjectMeta: meta, Data: map[string][]byte{corev1.TLSCertKey: own, corev1.TLSPrivateKeyKey: key},
	}
	meta.Name = "limits"
	s.Kong.Plugins[types.NamespacedName{Namespace: meta.Namespace, Name: meta.Name}] = &kongapi.KongPlugin{
		ObjectMeta: meta, Plugin: "rate-limiting", Config: []byte(`{"minute": 100, "policy": "local"}`),
	}
}

func kongIngress(meta metav1.ObjectMeta, i int) *netv1.Ingress {
	meta.Annotations = map[string]string{"konghq.com/strip-path": "false"}
	prefix, class := netv1.PathTypePrefix, "kong"
	host := meta.Name + ".bench.example"
	backend := netv1.IngressBackend{Service: &netv1.IngressServiceBackend{Name: meta.Name, Port: netv1.ServiceBackendPort{Number: 80}}}
	ing := &netv1.Ingress{ObjectMeta: meta, Spec: netv1.IngressSpec{
		IngressClassName: &class,
		Rules: []netv1.IngressRule{{Host: host, IngressRuleValue: netv1.IngressRuleValue{HTTP: &netv1.HTTPIngressRuleValue{
			Paths: []netv1.HTTPIngressPath{{Path: "/", PathType: &prefix, Backend: backend}, {Path: "/api", PathType: &prefix, Backend: backend}},
		}}}},
	}}
	if i%2 == 0 {
		ing.Spec.TLS = []netv1.IngressTLS{{Hosts: []string{host}, SecretName: "wildcard"}}
	}
	if i%3 == 0 {
		meta.Annotations["konghq.com/plugins"] = "limits"
	}
	if i%5 == 0 {
		meta.Annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"] = "30"
	}
	return ing
}

// kongSlices are the endpoints of a Service: so many from the first on.
func kongSlices(meta metav1.ObjectMeta, i, first, n int) []*discoveryv1.EndpointSlice {
	number, name := int32(8080), "http"
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: meta.Namespace, Name: meta.Name + "-x"}, AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &number}},
	}
	for e := range n {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("10.%d.%d.%d", first+e, i/250, i%250+1)}})
	}
	return []*discoveryv1.EndpointSlice{slice}
}
