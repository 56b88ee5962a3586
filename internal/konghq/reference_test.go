// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/model"
)

const reference = "../../docs/kong-annotations.md"

// beside are annotations without which those of a group say nothing.
var beside = map[string]map[string]string{
	"affinity":      {"affinity": "cookie"},
	"cors":          {"enable-cors": "true"},
	"auth":          {"auth-type": "basic", "auth-secret": "users"},
	"login":         {"auth-type": "basic", "auth-secret": "users"},
	"external-auth": {"auth-url": "http://auth.example/check"},
	"mirror":        {"mirror-target": "http://mirror.example/"},
	"proxy-tls":     {"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/trust"},
	"auth-tls":      {"auth-tls-secret": "default/trust"},
	"waf":           {"enable-modsecurity": "true"},
	"canary":        {"canary": "true", "canary-weight": "10"},
	"health-check":  {"health-check-type": "HTTP"},
	"outlier":       {"outlier-consecutive-failures": "3"},
}

// besideKey are those without which a key says nothing.
var besideKey = map[string]map[string]string{
	"permanent-redirect-code":           {"permanent-redirect": "https://b.example/"},
	"temporal-redirect-code":            {"temporal-redirect": "https://b.example/"},
	"fastcgi-index":                     {"backend-protocol": "FCGI"},
	"fastcgi-params-configmap":          {"backend-protocol": "FCGI"},
	"x-forwarded-prefix":                {"rewrite-target": "/y"},
	"upstream-hash-by-subset":           {"upstream-hash-by": "$remote_addr"},
	"upstream-hash-by-subset-size":      {"upstream-hash-by": "$remote_addr", "upstream-hash-by-subset": "true"},
	"proxy-redirect-from":               {"proxy-redirect-to": "http://b.example/"},
	"proxy-redirect-to":                 {"proxy-redirect-from": "http://b.example/"},
	"canary-by-header-value":            {"canary-by-header": "X-Canary"},
	"canary-by-header-pattern":          {"canary-by-header": "X-Canary"},
	"limit-allowlist":                   {"limit-rps": "5"},
	"limit-burst-multiplier":            {"limit-rps": "5"},
	"limit-rate-after":                  {"limit-rate": "5"},
	"disable-proxy-intercept-errors":    {"custom-http-errors": "404"},
	"health-check-service":              {"health-check-type": "gRPC"},
	"outlier-min-requests":              {"outlier-error-rate": "50"},
	"outlier-window":                    {"outlier-error-rate": "50"},
	"opentelemetry-operation-name":      {"enable-opentelemetry": "true"},
	"opentelemetry-trust-incoming-span": {"enable-opentelemetry": "true"},
}

// named are objects that the example does not name, so that there is one.
var named = map[string]string{"proxy-ssl-secret": "default/trust"}

// elsewhere are outcomes that the example alone does not show: it names an object that is not there, or needs TLS.
var elsewhere = map[string]string{
	"custom-headers": "yes", "default-backend": "yes", "ssl-redirect": "yes, where it is written", "server-alias": "yes; expressions: told",
}

// TestReference holds docs/kong-annotations.md: what the translation does with the example of each annotation that nginx knows, and the annotations
// of Kong's own.
func TestReference(t *testing.T) {
	var out bytes.Buffer
	fmt.Fprint(&out, "<!-- Made by internal/konghq. DO NOT EDIT: run go test ./internal/konghq -run TestReference -update. -->\n\n"+
		"# Annotations with Kong as data plane\n\n[kong.md](kong.md) says how the two data planes compare; this is the list, key by key.\n\n"+
		"## Annotations of Ingresses, TCPIngresses and UDPIngresses\n\n")
	printEntries(&out, konghq.RouteAnnotations())
	fmt.Fprint(&out, "\nBesides: `konghq.com/headers.NAME`, values of a header that requests must have, and "+
		"`ingress.kubernetes.io/force-ssl-redirect`.\n\n"+
		"## Annotations of Services and KongServiceFacades\n\n")
	printEntries(&out, konghq.ServiceAnnotations())
	fmt.Fprint(&out, "\nBesides: `ingress.kubernetes.io/service-upstream`, the address of the Service itself as the only endpoint.\n\n"+
		"## Fairway's own annotations\n\nWhat becomes of the example in [annotations.md](annotations.md) on Kong 3.9:\n\n"+
		"| | |\n|---|---|\n| yes | Kong does it |\n"+
		"| closed | Kong cannot, and as the annotation is to keep somebody out, or says what is served, the routes answer 503 |\n"+
		"| told | Kong cannot; a Problem says so, and the routes serve without |\n| – | without effect on what Kong is told |\n\n"+
		"| annotation | on Kong |\n|---|---|\n")
	for _, group := range annotation.Groups() {
		for _, key := range group.Keys {
			fmt.Fprintf(&out, "| `%s` | %s |\n", key.Name, outcome(t, group.Name, &key))
		}
	}
	if *update {
		if err := os.WriteFile(reference, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(text), out.String()); diff != "" {
		t.Errorf("%s (-file +built); go test ./internal/konghq -run TestReference -update rewrites it:\n%s", reference, diff)
	}
}

func printEntries(out *bytes.Buffer, entries []konghq.Entry) {
	fmt.Fprint(out, "| annotation | meaning | if the value cannot be read |\n|---|---|---|\n")
	for _, e := range entries {
		then := "as if it were not there"
		if e.Control {
			then = "the routes answer 503"
		}
		fmt.Fprintf(out, "| `konghq.com/%s` | %s | %s |\n", e.Name, e.Doc, then)
	}
}

// outcome compares what a gateway is told with and without an annotation.
func outcome(t *testing.T, group string, key *annotation.Key) string {
	t.Helper()
	if text := elsewhere[key.Name]; text != "" {
		return text
	}
	before := map[string]string{}
	for _, others := range []map[string]string{beside[group], besideKey[key.Name]} {
		for name, value := range others {
			if name != key.Name {
				before[name] = value
			}
		}
	}
	if group == "canary" && key.Name == "canary" {
		before = map[string]string{}
	}
	with := map[string]string{key.Name: cmp.Or(named[key.Name], key.Example)}
	for name, value := range before {
		with[name] = value
	}
	was, _ := tell(t, before)
	is, problems := tell(t, with)
	told := false
	for _, p := range problems {
		told = told || p.Reason == model.ReasonUnsupported || p.Reason == model.ReasonUnavailable
	}
	switch {
	case strings.Contains(is, `"status_code":503`):
		return "closed"
	case told:
		return "told"
	case was != is:
		return "yes"
	}
	return "–"
}

// tell gives what a gateway is told for an Ingress with the annotations, beside another for the same path.
func tell(t *testing.T, annotations map[string]string) (string, []model.Problem) {
	t.Helper()
	var lines strings.Builder
	for name, value := range annotations {
		prefix := annotation.DefaultPrefix
		if isOwn(name) {
			prefix = annotation.OwnPrefix
		}
		fmt.Fprintf(&lines, "    %s: %q\n", prefix+"/"+name, value)
	}
	main := ""
	if annotations["canary"] != "" {
		main = "kind: Ingress\nmetadata: {name: main, annotations: {test/age: \"1\"}}\nspec:\n  rules:\n" + rule("web") + "---\n"
	}
	cluster := main + "kind: Ingress\nmetadata:\n  name: shop\n  annotations:\n    test/age: \"0\"\n" + lines.String() +
		"spec:\n  rules:\n" + rule("other") +
		"---\nkind: Secret\nmetadata: {name: users}\nstringData: {auth: \"ann:{PLAIN}x\"}\n" +
		"---\nkind: Secret\nmetadata: {name: trust, annotations: {test/certificate: a.example, test/trust: \"yes\"}}\n"
	for i, name := range []string{"web", "other", cmp.Or(annotations["default-backend"], "third")} {
		cluster += fmt.Sprintf("---\nkind: Service\nmetadata: {name: %s, annotations: {test/ready: '10.0.0.%d,10.0.1.%d'}}\nspec: {ports: [{port: 80}]}\n",
			name, i+1, i+1)
	}
	c := readCase(t, golden.New(golden.Part{Name: "cluster.yaml", Text: cluster}))
	c.Ingress.Passthrough = true
	for _, secret := range c.snapshot.Secrets {
		if secret.Name == "trust" {
			secret.Data["ca.crt"] = secret.Data["tls.crt"]
		}
	}
	state, problems := c.build()
	text := ""
	for _, e := range state.Entities {
		if e.Kind() == entity.Certificates || e.Kind() == entity.CACertificates {
			text += e.Kind().Name + "\n" // each run makes others
			continue
		}
		text += string(entity.Encode(e, entity.Flat, []string{"t"})) + "\n"
	}
	return text, problems
}

// isOwn tells whether the key has Fairway's own prefix.
func isOwn(name string) bool {
	return slices.ContainsFunc(annotation.Groups(), func(g annotation.Group) bool {
		return slices.ContainsFunc(g.Keys, func(k annotation.Key) bool { return k.Own && k.Name == name })
	})
}

func rule(service string) string {
	return "  - host: a.example\n    http: {paths: [{path: /x, pathType: Prefix, backend: {service: {name: " + service + ", port: {number: 80}}}}]}\n"
}
