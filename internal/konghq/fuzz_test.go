// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/kong/translate"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// FuzzObjects writes any text into an Ingress, a Service, a consumer and a plugin: a gateway takes what comes of it, nothing in a rewrite becomes an
// expression in Lua, and a neighbour keeps its route.
func FuzzObjects(f *testing.F) {
	keys := slices.Concat(konghq.RouteAnnotations(), konghq.ServiceAnnotations(), []konghq.Entry{{Name: "headers.x-a"}})
	f.Add("/a", "ImplementationSpecific", uint8(0), "true", "k")
	f.Add("/~/x(", "ImplementationSpecific", uint8(14), "/$1$(os.exit())#", "a,b/c")
	f.Add("/%2e%2E/..;/\xff", "Exact", uint8(5), "GET,\n", "\x00")
	f.Add("/a//b c", "Prefix", uint8(30), "http://x", "é")
	f.Add("/~/(?i)a|b{1001}", "ImplementationSpecific", uint8(16), "a/b", strings.Repeat("k", 300))
	f.Fuzz(func(t *testing.T, path, kind string, which uint8, value, text string) {
		if !utf8.ValidString(path) || !utf8.ValidString(value) || !utf8.ValidString(text) {
			t.Skip("an API server takes UTF-8 alone")
		}
		key := keys[int(which)%len(keys)].Name
		s := readCluster(t, []byte(fuzzCluster))
		pathType := netv1.PathType(kind)
		for _, ing := range s.Ingresses {
			if ing.Name == "fuzzed" {
				ing.Annotations = map[string]string{"konghq.com/" + key: value, "konghq.com/plugins": "p"}
				ing.Spec.Rules[0].HTTP.Paths[0].Path, ing.Spec.Rules[0].HTTP.Paths[0].PathType = path, &pathType
			}
		}
		s.Services[source.Key{Namespace: "default", Name: "web"}].Annotations = map[string]string{"konghq.com/" + key: value}
		consumer := &kongapi.KongConsumer{Username: text, CustomID: value, Credentials: []string{"c"}}
		consumer.Namespace, consumer.Name = "default", "c"
		consumer.Annotations = map[string]string{"kubernetes.io/ingress.class": "kong", "konghq.com/tags": value}
		s.Kong.Put("KongConsumer", source.Key{Namespace: "default", Name: "c"}, consumer)
		credential := &corev1.Secret{Data: map[string][]byte{"key": []byte(text), "ttl": []byte("1")}}
		credential.Namespace, credential.Name, credential.Labels = "default", "c", map[string]string{"konghq.com/credential": "key-auth"}
		s.Secrets[source.Key{Namespace: "default", Name: "c"}] = credential
		plugin := &kongapi.KongPlugin{
			Plugin: "correlation-id", InstanceName: "", Config: []byte(`{"header_name": "x"}`),
			ConfigPatches: []kongapi.ConfigPatch{{Path: value, ValueFrom: kongapi.ConfigFrom{SecretKeyRef: kongapi.SecretKeyRef{Name: "c", Key: "key"}}}},
		}
		plugin.Namespace, plugin.Name = "default", "p"
		if !strings.HasPrefix(value, "/header_name") {
			s.Kong.Put("KongPlugin", source.Key{Namespace: "default", Name: "p"}, plugin)
		}

		options := konghq.Options{}
		result := ingress.NewBuilder(ingress.Options{ControllerClass: konghq.DefaultControllerClass, IngressClass: "kong"}).Build(s)
		konghq.NewBuilder(&options).Build(s, result)
		gateway := &entity.Gateway{Version: entity.Version{Major: 3, Minor: 9}, Flavor: "traditional_compatible"}
		state, _ := translate.New(translate.Options{}).Translate(result.Model, gateway)
		checkFuzzed(t, state)
	})
}

const fuzzCluster = `kind: Ingress
metadata: {name: fuzzed}
spec:
  rules:
  - http: {paths: [{path: /x, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
kind: Ingress
metadata: {name: neighbour}
spec:
  rules:
  - host: n.example
    http: {paths: [{path: /n, pathType: Prefix, backend: {service: {name: other, port: {number: 80}}}}]}
---
kind: Service
metadata: {name: web, annotations: {test/ready: 10.0.0.1}}
spec: {ports: [{port: 80}]}
---
kind: Service
metadata: {name: other, annotations: {test/ready: 10.0.0.2}}
spec: {ports: [{port: 80}]}
`

func checkFuzzed(t *testing.T, state *entity.State) {
	t.Helper()
	for _, fault := range state.Check() {
		t.Errorf("%s: %s", entity.Name(fault.Entity), fault.Reason)
	}
	for _, e := range state.Entities {
		p, ok := e.(*entity.Plugin)
		if !ok || p.Name != "request-transformer" {
			continue
		}
		replace, _ := p.Config["replace"].(map[string]any)
		uri, _ := replace["uri"].(string)
		for rest := uri; ; {
			_, after, found := strings.Cut(rest, "$")
			if !found {
				break
			}
			if !strings.HasPrefix(after, "(uri_captures[") {
				t.Errorf("the URI %q has an expression of its author's", uri)
			}
			rest = after
		}
	}
	gateway := kongtest.New(kongtest.Options{Version: "3.9.0", DBLess: true})
	document := state.Document(entity.Version{Major: 3, Minor: 9}, entity.Flat)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/config", bytes.NewReader(document))
	request.Header.Set("Content-Type", "text/yaml")
	recorder := httptest.NewRecorder()
	gateway.ServeHTTP(recorder, request)
	// What only the schema of a plugin can tell is for the sync to find; everything else is known here.
	if recorder.Code != http.StatusCreated && !strings.Contains(recorder.Body.String(), "correlation-id") {
		t.Fatalf("the gateway refuses the state: %d %s\n%s", recorder.Code, recorder.Body, document)
	}
	a := gateway.Route(kongtest.Request{Scheme: "http", Method: "GET", Host: "n.example", Path: "/n"})
	if a.Status != http.StatusOK || a.Targets[0] != "10.0.0.2:80" {
		t.Errorf("the neighbour is gone: %+v", a)
	}
}
