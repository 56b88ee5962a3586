// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/source"
)

// readCluster reads a stream of YAML documents as a snapshot. What a case need not say has a default: the namespace "default", and the same
// creation time for all. Two short cuts keep cases short:
//
//   - A Service annotated "test/ready: 10.0.0.1,10.0.0.2" gets an EndpointSlice with these ready addresses for its ports.
//   - A Secret annotated "test/authority: NAME" gets the certificate of that name in ca.crt; the same in all Secrets.
//   - A Secret annotated "test/certificate: RSA a.example b.example" (or ECDSA) gets a certificate for these names.
func readCluster(t testing.TB, text []byte) *source.Snapshot {
	s := newSnapshot()
	for _, document := range bytes.Split(append([]byte("\n"), text...), []byte("\n---")) {
		var head metav1.TypeMeta
		if err := yaml.Unmarshal(document, &head); err != nil {
			t.Fatalf("cluster.yaml: %v", err)
		}
		if head.Kind == "" {
			continue
		}
		read := func(object metav1.Object) source.Key {
			if err := yaml.UnmarshalStrict(document, object); err != nil {
				t.Fatalf("cluster.yaml: %v\n%s", err, document)
			}
			if object.GetNamespace() == "" {
				object.SetNamespace("default")
			}
			if created := object.GetCreationTimestamp(); created.IsZero() {
				object.SetCreationTimestamp(metav1.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			}
			return source.Key{Namespace: object.GetNamespace(), Name: object.GetName()}
		}
		switch head.Kind {
		case "Ingress":
			o := &netv1.Ingress{}
			read(o)
			s.Ingresses = append(s.Ingresses, o)
		case "IngressClass":
			o := &netv1.IngressClass{}
			s.IngressClasses[read(o).Name] = o
		case "Service":
			o := &corev1.Service{}
			s.Services[read(o)] = o
			addReady(s, o)
		case "EndpointSlice":
			o := &discoveryv1.EndpointSlice{}
			key := source.Key{Namespace: read(o).Namespace, Name: o.Labels[discoveryv1.LabelServiceName]}
			s.EndpointSlices[key] = append(s.EndpointSlices[key], o)
		case "ConfigMap":
			o := &corev1.ConfigMap{}
			s.ConfigMaps[read(o)] = o
		case "Secret":
			o := &corev1.Secret{}
			s.Secrets[read(o)] = o
			for key, text := range o.StringData { // as an API server does
				if o.Data == nil {
					o.Data = map[string][]byte{}
				}
				o.Data[key] = []byte(text)
			}
			addCertificate(t, o)
			addAuthority(t, o)
		case "Namespace":
			o := &corev1.Namespace{}
			s.Namespaces[read(o).Name] = o
		default:
			t.Fatalf("cluster.yaml: no kind %q here", head.Kind)
		}
	}
	slices.SortFunc(s.Ingresses, source.Older)
	for _, list := range s.EndpointSlices {
		slices.SortFunc(list, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	}
	return s
}

func newSnapshot() *source.Snapshot {
	return &source.Snapshot{
		IngressClasses: map[string]*netv1.IngressClass{},
		Services:       map[source.Key]*corev1.Service{},
		EndpointSlices: map[source.Key][]*discoveryv1.EndpointSlice{},
		Secrets:        map[source.Key]*corev1.Secret{},
		ConfigMaps:     map[source.Key]*corev1.ConfigMap{},
		Namespaces:     map[string]*corev1.Namespace{},
	}
}

func addReady(s *source.Snapshot, service *corev1.Service) {
	list, ok := service.Annotations["test/ready"]
	if !ok {
		return
	}
	slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	slice.Name = service.Name + "-0"
	for _, p := range service.Spec.Ports {
		number := cmp.Or(p.TargetPort.IntVal, p.Port)
		protocol := cmp.Or(p.Protocol, corev1.ProtocolTCP)
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &number, Protocol: &protocol})
	}
	for address := range strings.SplitSeq(list, ",") {
		if strings.Contains(address, ":") {
			slice.AddressType = discoveryv1.AddressTypeIPv6
		}
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{address}})
	}
	key := source.Key{Namespace: service.Namespace, Name: service.Name}
	s.EndpointSlices[key] = append(s.EndpointSlices[key], slice)
}

func addCertificate(t testing.TB, secret *corev1.Secret) {
	words := strings.Fields(secret.Annotations["test/certificate"])
	if len(words) == 0 {
		return
	}
	chain, key := newCertificate(t, words[0], words[1:], time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC))
	secret.Data = map[string][]byte{corev1.TLSCertKey: chain, corev1.TLSPrivateKeyKey: key}
}

var authorities sync.Map // from name to PEM

func addAuthority(t testing.TB, secret *corev1.Secret) {
	name := secret.Annotations["test/authority"]
	if name == "" {
		return
	}
	chain, _ := newCertificate(t, "ECDSA", []string{name}, time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC))
	known, _ := authorities.LoadOrStore(name, chain)
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data["ca.crt"] = known.([]byte)
}

var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// newCertificate makes a self-signed certificate. A first name "CN=…" becomes the common name instead of an alternative name.
func newCertificate(t testing.TB, algorithm string, names []string, notAfter time.Time) (chain, key []byte) {
	var signer crypto.Signer = rsaKey()
	if algorithm == "ECDSA" {
		ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		signer = ec
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: notAfter}
	for _, name := range names {
		if cn, ok := strings.CutPrefix(name, "CN="); ok {
			template.Subject = pkix.Name{CommonName: cn}
			continue
		}
		template.DNSNames = append(template.DNSNames, name)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}
