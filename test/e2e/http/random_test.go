// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

// TestFindIsWhatNginxDoes compares the Lua with model.Find on random hosts and requests: the backend that answers is that of the
// route that the model finds.
func TestFindIsWhatNginxDoes(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	pick := func(list ...string) string { return list[random.Intn(len(list))] }
	path := func() string {
		p := ""
		for range random.Intn(4) {
			p += "/" + pick("a", "b", "ab", "A", "a.b")
		}
		return p + pick("", "/")
	}
	hosts := []string{"a.example", "*.example", "x.a.example", "*.a.example", ""}
	for round := range 25 {
		var text strings.Builder
		for i := range 1 + random.Intn(8) {
			service, annotations := pick("web", "blue", "green"), `x: "y"`
			if random.Intn(8) == 0 {
				annotations = prefix + `use-regex: "true"`
			}
			p := path()
			if p == "" {
				p = "/"
			}
			text.WriteString(strings.Replace(rule(fmt.Sprintf("i%d", i), pick(hosts...), p, service, annotations),
				"Prefix", pick("Prefix", "Exact", "ImplementationSpecific"), 1))
		}
		cluster := strings.ReplaceAll(text.String(), `host: "", `, "")
		m := shared.build(t, cluster, "")
		shared.applyModel(t, m)
		for range 40 {
			host := pick("a.example", "b.example", "x.a.example", "y.a.example", "q.y.a.example", "other")
			target := path()
			if target == "" {
				target = "/"
			}
			_, match := m.Find(host, target)
			want := "404"
			if match != nil && match.Slash {
				want = "301"
			} else if match != nil && !match.Route.Backend.IsZero() {
				want = match.Route.Backend.Service
			}
			r, err := (&request{method: "GET", url: "http://" + host + target, body: -1}).send(shared)
			if err != nil {
				t.Fatal(err)
			}
			got := r.saw.Backend
			if got == "" {
				got = fmt.Sprint(r.status)
			}
			if got != want {
				t.Fatalf("round %d: %s%s: nginx answers %s, the model says %s\n%s", round, host, target, got, want, cluster)
			}
		}
	}
}

// hostile are texts that would do harm if any of them became configuration, code, a path or a header.
var hostile = []string{
	"/\n", "/;}", "/ { return 200 'owned'; }", "/$host", "/${pid}", "/'\"", `/\`, "/#", "/a\r\nX-Injected: 1", "/%0d%0aX-Injected:1",
	"lua_code_by_lua_block { os.exit() }", "]]", "--", "\x00", "{{.}}", "/etc/passwd;alias", "load_module x;", "/(?{die})", "/(a+)+$", "/a|b", "/\t",
	"\";os.exit()--", "]==]", "..", "/../..", "/ü\u202e", "true\ntrue", "1m;", "5;worker_processes 0", "http://x\n", "$1", "always;", strings.Repeat("/x", 3000),
}

// hostileIngress says hostile things in every field that a tenant can write. Names are of the kind that the API server lets pass.
func hostileIngress(random *rand.Rand, i int) *netv1.Ingress {
	pick := func() string { return hostile[random.Intn(len(hostile))] }
	pathType := []netv1.PathType{netv1.PathTypeExact, netv1.PathTypePrefix, netv1.PathTypeImplementationSpecific}[random.Intn(3)]
	ing := &netv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: fmt.Sprintf("h%d", i), Annotations: map[string]string{}}}
	for _, group := range annotation.Groups() {
		for _, key := range group.Keys {
			if key.Risk == annotation.Critical && i%4 > 0 {
				continue // they close all routes, which hides what other keys would do
			}
			switch random.Intn(4) {
			case 0:
				ing.Annotations[prefix+key.Name] = pick()
			case 1:
				ing.Annotations[prefix+key.Name] = key.Example
			}
		}
	}
	ing.Annotations[prefix+pick()] = pick()
	host := []string{"hostile.example", "*.hostile.example", "", pick()}[random.Intn(4)]
	backend := netv1.IngressBackend{Service: &netv1.IngressServiceBackend{Name: "web", Port: netv1.ServiceBackendPort{Number: 80}}}
	if random.Intn(3) == 0 {
		backend.Service.Name = pick()
		backend.Service.Port = netv1.ServiceBackendPort{Name: pick()}
	}
	path := pick()
	if random.Intn(2) == 0 {
		path = "/" + path
	}
	ing.Spec = netv1.IngressSpec{
		TLS: []netv1.IngressTLS{{Hosts: []string{host, pick()}, SecretName: pick()}},
		Rules: []netv1.IngressRule{{Host: host, IngressRuleValue: netv1.IngressRuleValue{HTTP: &netv1.HTTPIngressRuleValue{
			Paths: []netv1.HTTPIngressPath{{Path: path, PathType: &pathType, Backend: backend}},
		}}}},
	}
	return ing
}

// hostileModel is a well-behaved host beside hostile Ingresses.
func hostileModel(t testing.TB, random *rand.Rand, count int) *model.Model {
	t.Helper()
	file := filepath.Join(t.TempDir(), "good.yaml")
	text := rule("good", "good.example", "/", "web", "") + backendManifests(shared.backends)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshot, err := manifests.Load(file)
	if err != nil || len(snapshot.Faults) > 0 {
		t.Fatal(err, snapshot.Faults)
	}
	snapshot.Services[source.Key{Namespace: "tenant", Name: "web"}] = &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "main", Port: 80}}},
	}
	good := snapshot.EndpointSlices[source.Key{Namespace: "default", Name: "web"}]
	snapshot.EndpointSlices[source.Key{Namespace: "tenant", Name: "web"}] = good
	for i := range count {
		snapshot.Ingresses = append(snapshot.Ingresses, hostileIngress(random, i))
	}
	slices.SortFunc(snapshot.Ingresses, source.Older)
	return ingress.NewBuilder(ingress.Options{WatchWithoutClass: true, AllowLocalEndpoints: true}).Build(snapshot).Model
}

// rendered is nginx.conf for a set of shapes, at a place of no importance.
func rendered(m *model.Model, shapes conf.Shapes) string {
	text, _ := conf.Config{Place: conf.Place{Dir: "/run", HTTPPort: 80, HTTPSPort: 443}, Settings: m.Settings, Shapes: shapes, ZoneBytes: 1}.Render()
	return string(text)
}

// checkHostile demands that the configuration is that of the names of its shapes, and of parts that hold no free text.
func checkHostile(t testing.TB, m *model.Model) {
	t.Helper()
	needed := conf.Needed(m.Hosts, &m.Settings)
	harmless := conf.Shapes{}
	for shape, parts := range needed {
		named, ok := conf.ParseShape(shape.Name())
		if !ok {
			t.Fatalf("%q is no name of a shape", shape.Name())
		}
		harmless[named] = closedParts(t, parts)
	}
	text := rendered(m, needed)
	if text != rendered(m, harmless) {
		t.Fatal("nginx.conf depends on more than shapes")
	}
	for _, h := range hostile {
		if len(h) > 4 && strings.Contains(text, h) {
			t.Fatalf("nginx.conf holds %q", h)
		}
	}
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	cipherList = regexp.MustCompile(`^[A-Za-z0-9:+!@=_-]+$`)
)

// closedParts checks that the texts of a shape, without snippets, are of closed forms, and gives them.
func closedParts(t testing.TB, parts conf.Parts) conf.Parts {
	if parts.Snippet+parts.AuthSnippet+parts.Rules != "" {
		t.Fatalf("raw configuration, though the settings forbid it: %+v", parts)
	}
	for _, p := range parts.Params {
		if !identifier.MatchString(p.Name) {
			t.Fatalf("FastCGI parameter %q", p.Name)
		}
	}
	if parts.TLS != nil && (!cipherList.MatchString(parts.TLS.Ciphers) || strings.Trim(parts.TLS.Protocols, "TLSv123. ") != "") {
		t.Fatalf("TLS of backends %q, %q", parts.TLS.Ciphers, parts.TLS.Protocols)
	}
	return parts
}

// TestHostileIngresses applies random Ingresses with hostile text in every field to the running nginx.
func TestHostileIngresses(t *testing.T) {
	random := rand.New(rand.NewSource(11))
	there, last := conf.Shapes{}, conf.Shapes{} // in nginx, and of the model before
	shared.apply(t, rule("good", "good.example", "/", "web", ""), "")
	for round := range 60 {
		m := hostileModel(t, random, 1+random.Intn(6))
		m.Settings.Workers = 2
		checkHostile(t, m)
		needed := conf.Needed(m.Hosts, &m.Settings)
		known := there.Contains(needed)
		change := shared.applyModel(t, m)
		if known && round > 0 && change.Reload {
			t.Errorf("round %d: a reload without a new shape: %v", round, change.Reasons)
		}
		if change.Reload { // what neither this model nor the last needs is dropped
			there = conf.Shapes{}
			there.Add(last)
			there.Add(needed)
		}
		last = needed
		r, err := (&request{method: "GET", url: "http://good.example/x", body: -1}).send(shared)
		if err != nil || r.status != 200 || r.saw.Backend != "web" {
			t.Fatalf("round %d: the good host answers %+v, %v", round, r, err)
		}
		for _, target := range []string{"hostile.example/", "a.hostile.example/a", "hostile.example/%0a", "other.example/;}"} {
			r, err := (&request{method: "GET", url: "http://" + target, body: -1}).send(shared)
			if err != nil {
				t.Fatalf("round %d: %s: %v", round, target, err)
			}
			if r.header.Get("X-Injected") != "" || strings.Contains(r.body, "owned") || strings.Contains(r.body, "root:") {
				t.Fatalf("round %d: %s: injected: %+v", round, target, r)
			}
		}
	}
}

func FuzzHostileIngresses(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) { checkHostile(t, hostileModel(t, rand.New(rand.NewSource(seed)), 5)) })
}
