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

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/source"
)

// ownKeys are all of Fairway's own annotations with their prefix, and an example of each.
func ownKeys() (names, examples []string) {
	for _, group := range annotation.Groups() {
		for _, key := range group.Keys {
			prefix := annotation.DefaultPrefix
			if key.Own {
				prefix = annotation.OwnPrefix
			}
			names, examples = append(names, prefix+"/"+key.Name), append(examples, key.Example)
		}
	}
	return names, examples
}

func indexOf(names []string, name string) uint16 {
	return uint16(slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, "/"+name) }))
}

// gateways are those that the states are for.
var gateways = []entity.Gateway{
	{Version: entity.Version{Major: 3, Minor: 9}, Flavor: "traditional_compatible"},
	{Version: entity.Version{Major: 3, Minor: 9}, Flavor: "expressions"},
	{Version: entity.Version{Major: 3, Minor: 4}, Flavor: "traditional"},
	{Version: entity.Version{Major: 2, Minor: 8}, Flavor: "traditional"},
}

// FuzzOwn writes any text into two of Fairway's own annotations, on an Ingress and its Service: a gateway takes all that comes of it, plugins too, as a
// plugin that is refused would be left out.
func FuzzOwn(f *testing.F) {
	names, examples := ownKeys()
	for i, example := range examples {
		f.Add("/x", "Prefix", uint16(i), example, uint16(i), example, uint8(i))
	}
	f.Add("/(a|b)/(.*)", "ImplementationSpecific", indexOf(names, "rewrite-target"), "/$2$(x)", indexOf(names, "x-forwarded-prefix"), "/v/$1)$(", uint8(0))
	f.Add("/", "Exact", indexOf(names, "app-root"), "//a:b/../x", indexOf(names, "permanent-redirect"), "a://b:c,d?e", uint8(1))
	f.Add("/", "Prefix", indexOf(names, "permanent-redirect"), "http://a:b:c/", indexOf(names, "cors-max-age"), "5", uint8(0))
	f.Add("/", "Prefix", indexOf(names, "enable-cors"), "true", indexOf(names, "cors-allow-methods"), "BREW, GET", uint8(3))
	f.Add("/", "Prefix", indexOf(names, "affinity"), "cookie", indexOf(names, "session-cookie-path"), "/a?b=c", uint8(0))
	f.Add("/", "Prefix", indexOf(names, "health-check-type"), "HTTPS", indexOf(names, "health-check-host"), "[::1]:80", uint8(0))
	f.Add("/", "Prefix", indexOf(names, "health-check-type"), "HTTP", indexOf(names, "health-check-path"), "/a//b%zz{}", uint8(2))
	f.Fuzz(func(t *testing.T, path, kind string, first uint16, value string, second uint16, other string, which uint8) {
		if !utf8.ValidString(path) || !utf8.ValidString(value) || !utf8.ValidString(other) {
			t.Skip("an API server takes UTF-8 alone")
		}
		c := readCase(t, golden.New(golden.Part{Name: "cluster.yaml", Text: fuzzCluster}))
		annotations := map[string]string{names[int(first)%len(names)]: value, names[int(second)%len(names)]: other}
		pathType := netv1.PathType(kind)
		for _, ing := range c.snapshot.Ingresses {
			if ing.Name == "fuzzed" {
				ing.Annotations = annotations
				ing.Spec.Rules[0].HTTP.Paths[0].Path, ing.Spec.Rules[0].HTTP.Paths[0].PathType = path, &pathType
			}
		}
		c.snapshot.Services[source.Key{Namespace: "default", Name: "web"}].Annotations = annotations
		g := gateways[int(which)%len(gateways)]
		c.Version, c.Flavor = g.Version.String(), g.Flavor
		state, _ := c.build()
		for _, fault := range state.Check() {
			t.Errorf("%s: %s", entity.Name(fault.Entity), fault.Reason)
		}
		gateway := kongtest.New(kongtest.Options{Version: c.Version + ".0", DBLess: true, Flavor: c.Flavor})
		document := state.Document(g.Version, entity.Flat)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/config", bytes.NewReader(document))
		request.Header.Set("Content-Type", "text/yaml")
		recorder := httptest.NewRecorder()
		if gateway.ServeHTTP(recorder, request); recorder.Code != http.StatusCreated {
			t.Fatalf("the gateway refuses the state: %d %s\n%s", recorder.Code, recorder.Body, document)
		}
		a := gateway.Route(kongtest.Request{Scheme: "http", Method: "GET", Host: "n.example", Path: "/n"})
		if a.Status != http.StatusOK || a.Targets[0] != "10.0.0.2:80" {
			t.Errorf("the neighbour is gone: %+v", a)
		}
	})
}
