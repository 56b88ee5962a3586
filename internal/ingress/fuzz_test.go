// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"encoding/json"
	"reflect"
	"testing"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// FuzzHostileIngress puts whatever it likes into the fields of one Ingress. The build must not panic, a neighbour on a host of its own must get what
// it gets alone, and nothing of the input may be changed.
func FuzzHostileIngress(f *testing.F) {
	f.Add("h.example", "/foo", "Prefix", "a", int32(80), "", "h.example", "cert", "rewrite-target", "/$1")
	f.Add("*.example", "/(", "ImplementationSpecific", "a", int32(-1), "web", "*", "", "use-regex", "true")
	f.Add("", "", "", "", int32(0), "", "", "", "canary", "true")
	f.Add("_", "/a\x00b", "Exact", "../x", int32(70000), "\n", "_", "a/b", "proxy-body-size", "99999999999999999999g")
	f.Add("\xff", "//", "Prefix", "a", int32(80), "", "H", "c", "upstream-vhost", "$host;}")
	f.Fuzz(func(t *testing.T, host, path, pathType, service string, number int32, portName, tlsHost, secret, key, value string) {
		neighbour := fuzzCluster(t)
		want := goodHost(t, neighbour)

		both := fuzzCluster(t)
		hostile := &netv1.Ingress{}
		hostile.Namespace, hostile.Name = "hostile", "hostile" // older by the rule of ties, as "h" comes after "d"
		hostile.CreationTimestamp = both.Ingresses[0].CreationTimestamp
		hostile.Annotations = map[string]string{"nginx.ingress.kubernetes.io/" + key: value}
		backend := netv1.IngressBackend{Service: &netv1.IngressServiceBackend{Name: service, Port: netv1.ServiceBackendPort{Number: number, Name: portName}}}
		hostile.Spec.DefaultBackend = &backend
		hostile.Spec.TLS = []netv1.IngressTLS{{Hosts: []string{tlsHost}, SecretName: secret}}
		if host == "good.example" || len(host) > 12 && host[len(host)-12:] == "good.example" {
			t.Skip("the host is shared by intention")
		}
		kind := netv1.PathType(pathType)
		hostile.Spec.Rules = []netv1.IngressRule{{Host: host, IngressRuleValue: netv1.IngressRuleValue{HTTP: &netv1.HTTPIngressRuleValue{
			Paths: []netv1.HTTPIngressPath{{Path: path, PathType: &kind, Backend: backend}, {Path: path + "/", Backend: netv1.IngressBackend{}}},
		}}}}
		both.Ingresses = append([]*netv1.Ingress{hostile}, both.Ingresses...)
		before := hostile.DeepCopy()

		if got := goodHost(t, both); got != want && host != "*.example" {
			t.Errorf("the neighbour got\n%s\ninstead of\n%s", got, want)
		}
		if !reflect.DeepEqual(before, hostile) {
			t.Error("the build changed its input")
		}
		secrets, _ := References(Options{}, hostile)
		for _, s := range secrets {
			if s.Namespace != "hostile" {
				t.Errorf("an Ingress reaches the Secret %s of another namespace", s)
			}
		}
	})
}

func fuzzCluster(t testing.TB) *source.Snapshot {
	return readCluster(t, []byte(`
kind: Ingress
metadata: {name: good}
spec: {rules: [{host: good.example, http: {paths: [{path: /good, backend: {service: {name: a, port: {number: 80}}}}]}}]}
---
kind: Service
metadata: {name: a, annotations: {test/ready: 10.0.0.1}}
spec: {ports: [{port: 80}]}
`))
}

// goodHost is the neighbour's host and backend as JSON.
func goodHost(t testing.TB, snapshot *source.Snapshot) string {
	m := NewBuilder(Options{WatchWithoutClass: true}).Build(snapshot).Model
	text, err := json.Marshal([]any{m.Host("good.example"), m.Backend(model.BackendID{Namespace: "default", Service: "a", Port: "80"})})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
