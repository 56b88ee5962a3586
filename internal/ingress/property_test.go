// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// walkOptions use every object that a walk changes.
var walkOptions = Options{
	WatchWithoutClass:  true,
	DefaultBackend:     source.Key{Namespace: "a", Name: "s0"},
	DefaultCertificate: source.Key{Namespace: "a", Name: "t0"},
	ConfigMap:          source.Key{Namespace: "fairway", Name: "settings"},
}

// TestWarmEqualsFresh changes a cluster at random and compares a builder that remembers with one that does not.
func TestWarmEqualsFresh(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWalk(t, seed)
			warm := NewBuilder(walkOptions)
			for step := range 120 {
				w.step()
				fresh := everything(t, NewBuilder(walkOptions).Build(w.snapshot))
				if got := everything(t, warm.Build(w.snapshot)); !bytes.Equal(got, fresh) {
					t.Fatalf("step %d: warm\n%s\nfresh\n%s", step, got, fresh)
				}
			}
		})
	}
}

// TestOrderOfEvents reaches the same cluster by two orders of the same changes.
func TestOrderOfEvents(t *testing.T) {
	for seed := range uint64(20) {
		w := newWalk(t, seed)
		for range 60 {
			w.step()
		}
		want := everything(t, NewBuilder(walkOptions).Build(w.snapshot))

		random := rand.New(rand.NewPCG(seed, 7))
		partial := *w.snapshot
		partial.Ingresses = nil
		builder := NewBuilder(walkOptions)
		for _, i := range random.Perm(len(w.snapshot.Ingresses)) {
			partial.Ingresses = append(slices.Clone(partial.Ingresses), w.snapshot.Ingresses[i])
			slices.SortFunc(partial.Ingresses, source.Older)
			builder.Build(&partial)
		}
		if got := everything(t, builder.Build(&partial)); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: one by one\n%s\nat once\n%s", seed, got, want)
		}
	}
}

// TestNothingChanges builds a snapshot twice, from equal but different objects the second time, and expects the same pointers.
func TestNothingChanges(t *testing.T) {
	w := newWalk(t, 3)
	for range 200 {
		w.step()
	}
	builder := NewBuilder(walkOptions)
	before := builder.Build(w.snapshot).Model
	w.snapshot.Ingresses, w.snapshot.Secrets, w.snapshot.Services = slices.Clone(w.snapshot.Ingresses), maps.Clone(w.snapshot.Secrets), maps.Clone(w.snapshot.Services)
	for i, ing := range w.snapshot.Ingresses {
		ing = ing.DeepCopy()
		ing.ResourceVersion, ing.Status.LoadBalancer.Ingress = "2", []netv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
		w.snapshot.Ingresses[i] = ing
	}
	for key, secret := range w.snapshot.Secrets {
		w.snapshot.Secrets[key] = secret.DeepCopy()
	}
	for key, service := range w.snapshot.Services {
		w.snapshot.Services[key] = service.DeepCopy()
	}
	after := builder.Build(w.snapshot).Model
	if !slices.Equal(before.Hosts, after.Hosts) || !slices.Equal(before.Backends, after.Backends) || !slices.Equal(before.Certificates, after.Certificates) {
		t.Error("parts of the model are other pointers, though nothing changed")
	}
}

// TestOneRouteChanges expects new pointers just for what changed.
func TestOneRouteChanges(t *testing.T) {
	snapshot := readCluster(t, []byte(`
kind: Ingress
metadata: {name: one}
spec: {rules: [{host: h.example, http: {paths: [{path: /one, backend: {service: {name: a, port: {number: 80}}}}]}}]}
---
kind: Ingress
metadata: {name: two}
spec: {rules: [{host: h.example, http: {paths: [{path: /, backend: {service: {name: a, port: {number: 80}}}}]}}]}
---
kind: Ingress
metadata: {name: three}
spec: {rules: [{host: other.example, http: {paths: [{path: /, backend: {service: {name: a, port: {number: 80}}}}]}}]}
`))
	builder := NewBuilder(Options{WatchWithoutClass: true})
	before := builder.Build(snapshot).Model
	i := slices.IndexFunc(snapshot.Ingresses, func(ing *netv1.Ingress) bool { return ing.Name == "one" })
	snapshot.Ingresses = slices.Clone(snapshot.Ingresses)
	snapshot.Ingresses[i] = snapshot.Ingresses[i].DeepCopy()
	snapshot.Ingresses[i].Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-body-size": "2m"}
	after := builder.Build(snapshot).Model
	if before.Host("h.example") == after.Host("h.example") {
		t.Error("the host of the changed Ingress is the same pointer")
	}
	if before.Host("other.example") != after.Host("other.example") {
		t.Error("another host changed")
	}
	if before.Host("h.example").Find("/").Route != after.Host("h.example").Find("/").Route {
		t.Error("the route of another Ingress of the host changed")
	}
	if before.Backends[0] != after.Backends[0] {
		t.Error("the backend changed")
	}
}

// everything is all of a result as text: the short form, the problems, and every field.
func everything(t testing.TB, r *Result) []byte {
	var out bytes.Buffer
	r.Model.Print(&out)
	model.PrintProblems(&out, r.Model.Problems)
	for _, ing := range r.Accepted {
		fmt.Fprintf(&out, "accepted %s/%s\n", ing.Namespace, ing.Name)
	}
	fmt.Fprintln(&out, r.ExternalNames)
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(r.Model); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// walk is a small cluster that changes at random. Each step makes a new snapshot that shares what did not change.
type walk struct {
	random   *rand.Rand
	snapshot *source.Snapshot
	pairs    [][2][]byte // certificates and keys
}

func newWalk(t testing.TB, seed uint64) *walk {
	w := &walk{random: rand.New(rand.NewPCG(seed, 1)), snapshot: newSnapshot()}
	for _, names := range [][]string{{"h0.example", "h1.example"}, {"*.example"}, {"other.example"}} {
		for _, algorithm := range []string{"RSA", "ECDSA"} {
			chain, key := newCertificate(t, algorithm, names, time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC))
			w.pairs = append(w.pairs, [2][]byte{chain, key})
		}
	}
	return w
}

func pick[T any](w *walk, values ...T) T { return values[w.random.IntN(len(values))] }

func (w *walk) step() {
	s := *w.snapshot
	key := source.Key{Namespace: pick(w, "a", "b"), Name: fmt.Sprintf("s%d", w.random.IntN(4))}
	switch w.random.IntN(8) {
	case 0, 1, 2:
		w.changeIngress(&s)
	case 3:
		s.Services = w.change(s.Services, key, w.service(key))
	case 4:
		s.EndpointSlices = maps.Clone(s.EndpointSlices)
		s.EndpointSlices[key] = w.endpointSlices()
	case 5:
		key.Name = fmt.Sprintf("t%d", w.random.IntN(3))
		s.Secrets = maps.Clone(s.Secrets)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		pair := pick(w, w.pairs...)
		secret.Data = map[string][]byte{corev1.TLSCertKey: pair[0], corev1.TLSPrivateKeyKey: pick(w, pair[1], pair[1], pair[1], nil)}
		s.Secrets[key] = secret
		if w.random.IntN(4) == 0 {
			delete(s.Secrets, key)
		}
	case 6:
		s.ConfigMaps = map[source.Key]*corev1.ConfigMap{walkOptions.ConfigMap: {Data: map[string]string{
			pick(w, "ssl-redirect", "force-ssl-redirect", "nonsense", "global-auth-url", "proxy-body-size"): pick(w, "true", "false", "8m", ""),
		}}}
	case 7:
		s.IngressClasses = map[string]*netv1.IngressClass{}
		if w.random.IntN(2) == 0 {
			s.IngressClasses["c"] = &netv1.IngressClass{Spec: netv1.IngressClassSpec{Controller: pick(w, DefaultControllerClass, "other")}}
		}
		s.Addresses = map[string][]netip.Addr{"ext.example": {netip.MustParseAddr(pick(w, "192.0.2.1", "192.0.2.2", "127.0.0.1"))}}
	}
	w.snapshot = &s
}

func (w *walk) change(services map[source.Key]*corev1.Service, key source.Key, service *corev1.Service) map[source.Key]*corev1.Service {
	services = maps.Clone(services)
	if w.random.IntN(4) == 0 {
		delete(services, key)
	} else {
		services[key] = service
	}
	return services
}

func (w *walk) service(key source.Key) *corev1.Service {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	service.Spec.Ports = []corev1.ServicePort{{Name: pick(w, "", "web"), Port: 80, TargetPort: intstr.FromInt32(8080)}}
	if w.random.IntN(4) == 0 {
		service.Spec.Type, service.Spec.ExternalName = corev1.ServiceTypeExternalName, pick(w, "ext.example", "localhost")
	}
	return service
}

func (w *walk) endpointSlices() []*discoveryv1.EndpointSlice {
	var list []*discoveryv1.EndpointSlice
	for i := range w.random.IntN(3) {
		port, name, ready := int32(8080), pick(w, "", "web"), w.random.IntN(3) > 0
		slice := &discoveryv1.EndpointSlice{Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}}}
		slice.Name = fmt.Sprint("slice", i)
		slice.Endpoints = []discoveryv1.Endpoint{{Addresses: []string{fmt.Sprintf("10.0.0.%d", w.random.IntN(5))}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}}
		list = append(list, slice)
	}
	return list
}

func (w *walk) changeIngress(s *source.Snapshot) {
	namespace, name := pick(w, "a", "b"), fmt.Sprintf("i%d", w.random.IntN(6))
	s.Ingresses = slices.Clone(s.Ingresses)
	s.Ingresses = slices.DeleteFunc(s.Ingresses, func(ing *netv1.Ingress) bool { return ing.Namespace == namespace && ing.Name == name })
	if w.random.IntN(4) > 0 {
		s.Ingresses = append(s.Ingresses, w.ingress(namespace, name))
	}
	slices.SortFunc(s.Ingresses, source.Older)
}

func (w *walk) ingress(namespace, name string) *netv1.Ingress {
	ing := &netv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.Unix(int64(w.random.IntN(4)), 0)}}
	ing.Annotations = map[string]string{}
	for range w.random.IntN(3) {
		key, value := pick(w, "use-regex", "canary", "ssl-redirect", "force-ssl-redirect", "auth-url", "rewrite-target", "canary-weight", "proxy-body-size", "nonsense"),
			pick(w, "true", "true", "false", "/x", "5", "$")
		ing.Annotations["nginx.ingress.kubernetes.io/"+key] = value
	}
	if w.random.IntN(5) == 0 {
		ing.Spec.IngressClassName = new(pick(w, "c", "d"))
	}
	if w.random.IntN(5) == 0 {
		ing.Spec.DefaultBackend = new(w.backend())
	}
	for range w.random.IntN(3) {
		ing.Spec.Rules = append(ing.Spec.Rules, w.rule())
	}
	for range w.random.IntN(3) {
		ing.Spec.TLS = append(ing.Spec.TLS, netv1.IngressTLS{
			Hosts: []string{pick(w, "h0.example", "h1.example", "*.example")}, SecretName: pick(w, "t0", "t1", "t2", ""),
		})
	}
	return ing
}

func (w *walk) rule() netv1.IngressRule {
	rule := netv1.IngressRule{Host: pick(w, "h0.example", "h1.example", "*.example", "", "bad_host")}
	rule.HTTP = &netv1.HTTPIngressRuleValue{}
	for range w.random.IntN(4) {
		rule.HTTP.Paths = append(rule.HTTP.Paths, netv1.HTTPIngressPath{
			Path:     pick(w, "/", "/foo", "/foo/", "/foo/bar", "/a(b", "", "x"),
			PathType: pick(w, nil, new(netv1.PathTypeExact), new(netv1.PathTypePrefix)),
			Backend:  w.backend(),
		})
	}
	return rule
}

func (w *walk) backend() netv1.IngressBackend {
	return netv1.IngressBackend{Service: &netv1.IngressServiceBackend{
		Name: fmt.Sprintf("s%d", w.random.IntN(4)), Port: pick(w, netv1.ServiceBackendPort{Number: 80}, netv1.ServiceBackendPort{Name: "web"}),
	}}
}
