// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// readCluster reads objects. As an aid: the namespace is "default" unless written; UIDs are made of kind and name; an Ingress and whatever needs the
// class has it unless it is written; the annotation test/age makes an object older by so many hours; on Services test/ready lists the addresses of
// ready endpoints and test/draining those that end; on Secrets and ConfigMaps test/certificate makes a key pair for the names, and test/authority
// a CA certificate. Annotations test/* are taken off.
func readCluster(t testing.TB, text []byte) *source.Snapshot {
	s := &source.Snapshot{
		IngressClasses: map[string]*netv1.IngressClass{}, Services: map[source.Key]*corev1.Service{},
		EndpointSlices: map[source.Key][]*discoveryv1.EndpointSlice{}, Secrets: map[source.Key]*corev1.Secret{},
		ConfigMaps: map[source.Key]*corev1.ConfigMap{}, Namespaces: map[string]*corev1.Namespace{}, Kong: &kongapi.Objects{},
	}
	class := &netv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "kong"},
		Spec: netv1.IngressClassSpec{Controller: "ingress-controllers.konghq.com/kong"}}
	s.IngressClasses["kong"] = class
	for _, document := range strings.Split(string(text), "\n---\n") {
		readObject(t, s, []byte(document))
	}
	slices.SortFunc(s.Ingresses, source.Older)
	for _, list := range s.EndpointSlices {
		slices.SortFunc(list, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	}
	return s
}

func readObject(t testing.TB, s *source.Snapshot, text []byte) {
	var head metav1.TypeMeta
	if err := yaml.Unmarshal(text, &head); err != nil {
		t.Fatalf("cluster.yaml: %v", err)
	}
	var aids map[string]string
	read := func(object metav1.Object) source.Key {
		if err := yaml.UnmarshalStrict(text, object); err != nil {
			t.Fatalf("cluster.yaml: %s: %v", head.Kind, err)
		}
		aids = complete(object, head.Kind)
		return source.Key{Namespace: object.GetNamespace(), Name: object.GetName()}
	}
	switch head.Kind {
	case "Ingress":
		o := &netv1.Ingress{}
		read(o)
		if o.Spec.IngressClassName == nil && o.Annotations["kubernetes.io/ingress.class"] == "" {
			name := "kong"
			o.Spec.IngressClassName = &name
		}
		s.Ingresses = append(s.Ingresses, o)
	case "IngressClass":
		o := &netv1.IngressClass{}
		s.IngressClasses[read(o).Name] = o
	case "Service":
		o := &corev1.Service{}
		s.Services[read(o)] = o
		addSlice(s, o, aids["test/ready"], false)
		addSlice(s, o, aids["test/draining"], true)
	case "EndpointSlice":
		o := &discoveryv1.EndpointSlice{}
		key := source.Key{Namespace: read(o).Namespace, Name: o.Labels[discoveryv1.LabelServiceName]}
		s.EndpointSlices[key] = append(s.EndpointSlices[key], o)
	case "ConfigMap":
		o := &corev1.ConfigMap{}
		s.ConfigMaps[read(o)] = o
		if name := aids["test/authority"]; name != "" {
			certificate, _ := newCertificate(t, []string{name}, true)
			o.Data["cert"] = string(certificate)
		}
	case "Secret":
		o := &corev1.Secret{}
		s.Secrets[read(o)] = o
		if o.Data == nil {
			o.Data = map[string][]byte{}
		}
		for key, text := range o.StringData {
			o.Data[key] = []byte(text)
		}
		if names := aids["test/certificate"]; names != "" {
			o.Data["tls.crt"], o.Data["tls.key"] = newCertificate(t, strings.Fields(names), false)
		}
		if name := aids["test/authority"]; name != "" {
			o.Data["cert"], _ = newCertificate(t, []string{name}, true)
		}
	default:
		for _, kind := range kongapi.Kinds() {
			if kind.Name == head.Kind {
				o := kind.New()
				s.Kong.Put(kind.Name, read(o), o)
				return
			}
		}
		t.Fatalf("cluster.yaml: no kind %q here", head.Kind)
	}
}

// classed are the kinds that need a class, in an annotation.
var classed = []string{"KongConsumer", "KongConsumerGroup", "KongClusterPlugin", "TCPIngress", "UDPIngress"}

var newest = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// complete fills in what every object of a cluster has and gives the annotations test/*.
func complete(object metav1.Object, kind string) map[string]string {
	if object.GetNamespace() == "" && kind != "KongClusterPlugin" && kind != "IngressClass" {
		object.SetNamespace("default")
	}
	sum := sha256.Sum256([]byte(kind + object.GetNamespace() + object.GetName()))
	id := hex.EncodeToString(sum[:16])
	object.SetUID(types.UID(id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]))
	annotations, aids := map[string]string{}, map[string]string{}
	for key, value := range object.GetAnnotations() {
		if strings.HasPrefix(key, "test/") {
			aids[key] = value
			continue
		}
		annotations[key] = value
	}
	needs := slices.Contains(classed, kind) || object.GetLabels()["konghq.com/ca-cert"] != ""
	if _, written := annotations["kubernetes.io/ingress.class"]; needs && !written {
		annotations["kubernetes.io/ingress.class"] = "kong"
	}
	object.SetAnnotations(annotations)
	age, _ := time.ParseDuration(cmp.Or(aids["test/age"], "0") + "h")
	object.SetCreationTimestamp(metav1.NewTime(newest.Add(-age)))
	return aids
}

func addSlice(s *source.Snapshot, service *corev1.Service, list string, draining bool) {
	if list == "" {
		return
	}
	slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	slice.Name = service.Name + map[bool]string{true: "-1", false: "-0"}[draining]
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		number := cmp.Or(p.TargetPort.IntVal, p.Port)
		protocol := cmp.Or(p.Protocol, corev1.ProtocolTCP)
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &number, Protocol: &protocol})
	}
	yes, no := true, false
	for address := range strings.SplitSeq(list, ",") {
		if strings.Contains(address, ":") {
			slice.AddressType = discoveryv1.AddressTypeIPv6
		}
		e := discoveryv1.Endpoint{Addresses: []string{address}}
		if draining {
			e.Conditions = discoveryv1.EndpointConditions{Ready: &no, Serving: &yes, Terminating: &yes}
		}
		slice.Endpoints = append(slice.Endpoints, e)
	}
	key := source.Key{Namespace: service.Namespace, Name: service.Name}
	s.EndpointSlices[key] = append(s.EndpointSlices[key], slice)
}

func newCertificate(t testing.TB, names []string, authority bool) (chain, private []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: newest.AddDate(30, 0, 0), DNSNames: names, IsCA: authority, BasicConstraintsValid: authority,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// joinSorted sorts lines by rank, then by text.
func joinSorted(lines []string, rank func(string) int) string {
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return strings.Join(lines, "\n") + "\n"
}
