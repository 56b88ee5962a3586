// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/test/freeport"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// kongApp is an Ingress for Kong, with a Service and endpoints.
func kongApp(name, annotation string, addresses ...string) string {
	endpoints := ""
	for _, a := range addresses {
		endpoints += fmt.Sprintf("- addresses: [%s]\n  conditions: {ready: true}\n", a)
	}
	return fmt.Sprintf(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: %[1]s
  namespace: shop
  annotations: {%[2]s}
spec:
  ingressClassName: kong
  rules:
  - host: %[1]s.example
    http:
      paths:
      - path: /
        pathType: Prefix
        backend: {service: {name: %[1]s, port: {number: 80}}}
---
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: shop}
spec:
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: %[1]s-1, namespace: shop, labels: {kubernetes.io/service-name: %[1]s}}
addressType: IPv4
ports: [{port: 8080, protocol: TCP}]
endpoints:
%[3]s`, name, annotation, endpoints)
}

const kongClass = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: kong}
spec: {controller: ingress-controllers.konghq.com/kong}
---
apiVersion: configuration.konghq.com/v1
kind: KongPlugin
metadata: {name: limit, namespace: shop}
plugin: rate-limiting
config: {minute: 5}
---
apiVersion: configuration.konghq.com/v1
kind: KongPlugin
metadata: {name: broken, namespace: shop}
plugin: rate-limiting
config: {minute: many}
---
apiVersion: v1
kind: Secret
metadata: {name: ann-key, namespace: shop, labels: {konghq.com/credential: key-auth}}
stringData: {key: SESAME}
---
apiVersion: configuration.konghq.com/v1
kind: KongConsumer
metadata: {name: ann, namespace: shop, annotations: {kubernetes.io/ingress.class: kong}}
username: ann
credentials: [ann-key]
`

// kongBench is a folder of manifests, a simulated gateway, and a controller between them.
type kongBench struct {
	*testing.T
	dir       string
	gateway   string
	simulator *kongtest.Simulator
	program   *program
}

func startKong(t *testing.T, options kongtest.Options, arguments ...string) *kongBench {
	t.Helper()
	dir := testbed.Dir(t)
	b := &kongBench{T: t, dir: dir, simulator: kongtest.New(options)}
	server := httptest.NewServer(b.simulator)
	t.Cleanup(server.Close)
	if err := os.Mkdir(filepath.Join(dir, "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.write("class", kongClass)
	b.write("web", kongApp("web", `konghq.com/plugins: "limit"`, "10.0.0.1"))
	b.write("bad", kongApp("bad", `konghq.com/plugins: "broken"`, "10.0.0.2"))
	b.gateway = server.URL
	b.program = startProgram(t, dir, append(arguments, "--data-plane", "kong", "--kong-admin-url", server.URL,
		"--gateway-discovery-readiness-check-interval", "100ms")...)
	t.Cleanup(func() { _ = b.program.command.Process.Kill() }) // ended already when all went well
	eventually(t, "the controller is ready", func() bool { status, _ := get(b.program.own, "", "/readyz"); return status == 200 })
	return b
}

func (b *kongBench) write(name, text string) {
	b.Helper()
	path := filepath.Join(b.dir, "objects", name+".yaml")
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		b.Fatal(err)
	}
}

func (b *kongBench) ask(host string) kongtest.Answer {
	return b.simulator.Route(kongtest.Request{Host: host, Path: "/x"})
}

func (b *kongBench) say(arguments ...string) string {
	b.Helper()
	command := exec.Command(os.Args[0], append(arguments, "--runtime-dir", filepath.Join(b.dir, "run"))...)
	command.Env = append(os.Environ(), asFairway+"=1")
	out, err := command.CombinedOutput()
	if err != nil {
		b.Errorf("fairway %v: %v: %s", arguments, err, out)
	}
	return string(out)
}

// end stops the controller as Kubernetes would.
func (b *kongBench) end() {
	b.Helper()
	if err := b.program.command.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	if err := b.program.command.Wait(); err != nil {
		b.Errorf("the controller ends with %v: %s", err, b.program.log)
	}
}

func TestKongWithADatabase(t *testing.T) {
	b := startKong(t, kongtest.Options{})
	for _, host := range []string{"web.example", "bad.example"} {
		if got := b.ask(host); got.Status != 200 || got.Path != "/x" || got.Host != host || len(got.Targets) != 1 {
			t.Errorf("%s: %+v", host, got)
		}
	}
	if got := b.ask("web.example"); len(got.Plugins) != 1 || got.Plugins[0] != "rate-limiting" {
		t.Errorf("plugins %v", got.Plugins)
	}
	if text := b.say("get", "problems"); !strings.Contains(text, "expected a number") || !strings.Contains(text, "KongConfigurationApplyFailed") {
		t.Errorf("problems do not tell what Kong refuses:\n%s", text)
	}
	b.simulator.Forget()
	b.write("web", kongApp("web", `konghq.com/plugins: "limit"`, "10.0.0.1", "10.0.0.3"))
	eventually(t, "two targets", func() bool { return len(b.ask("web.example").Targets) == 2 })
	if calls := b.simulator.Writes(); len(calls) != 1 || calls[0].Method != http.MethodPost {
		t.Errorf("a new endpoint makes the writes %v, want one", calls)
	}
	if text := b.say("get", "kong", "state"); !strings.Contains(text, `"name":"shop.web.80"`) || !strings.Contains(text, `"_format_version":"3.0"`) {
		t.Errorf("state:\n%s", text)
	}
	if text := b.say("get", "kong", "diff"); !strings.Contains(text, "create plugin") || strings.Contains(text, "delete") {
		t.Errorf("diff, with one plugin that is refused:\n%s", text)
	}
	b.write("bad", "")
	eventually(t, "the route is gone", func() bool { return b.ask("bad.example").Status == 404 })
	if text := b.say("get", "kong", "diff"); text != "nothing would change\n" {
		t.Errorf("diff:\n%s", text)
	}
	_, text := get(b.program.own, "", "/metrics")
	for _, want := range []string{`ingress_controller_configuration_push_count{dataplane="http://127.0.0.1`, `protocol="deck"`, "ingress_controller_translation_count"} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics have no %s", want)
		}
	}
	b.end()
	if got := b.ask("web.example"); got.Status != 200 {
		t.Errorf("after the controller has ended: %+v", got)
	}
}

func TestKongWithoutADatabase(t *testing.T) {
	b := startKong(t, kongtest.Options{DBLess: true})
	if got := b.ask("web.example"); got.Status != 200 {
		t.Errorf("%+v", got)
	}
	b.simulator.Forget()
	b.simulator.Restart()
	eventually(t, "the gateway that restarted serves", func() bool { return b.ask("web.example").Status == 200 })
	if calls := b.simulator.Writes(); len(calls) != 1 || calls[0].Path != "/config" {
		t.Errorf("a restart makes the writes %v, want one document", calls)
	}
	text := b.say("get", "kong", "diff")
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, ": create plugin ") || !strings.Contains(text, "; refused: ") {
		t.Errorf("diff, with one plugin that is refused:\n%s", text)
	}
	if status := b.status("get", "kong", "diff", "--exit-code"); status != 1 {
		t.Errorf("with a difference the status is %d, want 1", status)
	}
	b.write("bad", "")
	eventually(t, "nothing differs", func() bool { return b.status("get", "kong", "diff", "--exit-code") == 0 })
	b.end()
	if status := b.status("get", "kong", "diff", "--exit-code"); status != 2 {
		t.Errorf("without a controller the status is %d, want 2", status)
	}
	if status := b.status("get", "kong", "state"); status != 1 {
		t.Errorf("without a controller the status is %d, want 1", status)
	}
}

// status runs a command and gives its exit status.
func (b *kongBench) status(arguments ...string) int {
	b.Helper()
	command := exec.Command(os.Args[0], append(arguments, "--runtime-dir", filepath.Join(b.dir, "run"))...)
	command.Env = append(os.Environ(), asFairway+"=1")
	_ = command.Run() // its status tells
	return command.ProcessState.ExitCode()
}

// TestKongLastGoodForm breaks a plugin that was in force: the flag says what becomes of it.
func TestKongLastGoodForm(t *testing.T) {
	for _, keep := range []bool{true, false} {
		b := startKong(t, kongtest.Options{DBLess: true}, fmt.Sprintf("--use-last-valid-config-for-fallback=%v", keep))
		b.write("class", strings.Replace(kongClass, "minute: 5", "minute: few", 1))
		b.write("web2", kongApp("web2", "", "10.0.0.3"))
		eventually(t, "another route", func() bool { return b.ask("web2.example").Status == 200 })
		eventually(t, "two Problems", func() bool { return strings.Count(b.say("get", "problems"), "KongConfigurationApplyFailed") == 2 })
		if got := len(b.ask("web.example").Plugins) == 1; got != keep {
			t.Errorf("with --use-last-valid-config-for-fallback=%v the last good plugin is in force: %v", keep, got)
		}
		b.end()
	}
}

// TestKongDumps asks for what gateways took and refused, with and without secrets.
func TestKongDumps(t *testing.T) {
	for _, secrets := range []bool{false, true} {
		port := freeport.Take(t)
		b := startKong(t, kongtest.Options{DBLess: true},
			"--dump-config", fmt.Sprintf("--dump-sensitive-config=%v", secrets), "--diagnostic-server-port", strconv.Itoa(port))
		dump := func(what string) string {
			t.Helper()
			status, text := get(port, "", "/debug/config/"+what)
			if status != http.StatusOK {
				t.Errorf("%s answers %d: %s", what, status, text)
			}
			return text
		}
		for what, want := range map[string]string{
			"successful": `"name":"shop.web.80"`, "failed": `"minute":"many"`, "raw-error": "expected a number", "fallback": `"status":"triggered"`,
			"diff-report": `"reason":"config.minute`, "successful?gateway=" + url.QueryEscape(b.gateway): `"hash":"`,
		} {
			if text := dump(what); !strings.Contains(text, want) {
				t.Errorf("%s has no %s:\n%s", what, want, text)
			}
		}
		if text := dump("successful"); strings.Contains(text, "SESAME") != secrets {
			t.Errorf("with --dump-sensitive-config=%v:\n%s", secrets, text)
		}
		if status, _ := get(port, "", "/debug/config/successful?gateway=nowhere"); status != http.StatusNotFound {
			t.Errorf("an unknown gateway answers %d", status)
		}
		b.end()
	}
}

func TestKongFlags(t *testing.T) {
	for arguments, want := range map[string]string{
		"--data-plane=apache":                                                            "nginx or kong",
		"--data-plane=kong --kong-admin-url=ftp://a":                                     "--kong-admin-url",
		"--data-plane=kong --kong-admin-svc=a/b --kong-admin-url=http://a":               "exclude each other",
		"--data-plane=kong --kong-admin-token=a --kong-admin-token-file=b":               "exclude each other",
		"--data-plane=kong --kong-admin-filter-tag=a,b":                                  "--kong-admin-filter-tag",
		"--data-plane=kong --kong-admin-header=a":                                        "name:value",
		"--data-plane=kong --kong-admin-tls-client-cert-file=/nowhere":                   "go together",
		"--data-plane=kong --kong-admin-ca-cert-file=/nowhere":                           "--kong-admin-ca-cert-file",
		"--data-plane=kong --kong-admin-concurrency=0":                                   "--kong-admin-concurrency",
		"--data-plane=kong --gateway-discovery-readiness-check-interval=1ms":             "readiness-check-interval",
		"--data-plane=kong --dump-sensitive-config":                                      "needs --dump-config",
		"--data-plane=kong --dump-config --diagnostic-server-port=443":                   "both 443",
		"--data-plane=kong --kong-admin-svc=a/b --manifests=x":                           "needs an API server",
		"--data-plane=kong --kong-admin-ca-cert=x":                                       "no certificate",
		"--data-plane=kong --kong-admin-tls-client-cert=x --kong-admin-tls-client-key=y": "--kong-admin-tls-client-cert",
	} {
		c := newController()
		c.SetArgs(append(strings.Fields(arguments), "--version"))
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", arguments, err, want)
		}
	}
}

func TestKongToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tk := &token{header: http.Header{"A": {"b"}}, file: file}
	header, err := tk.get()
	if err != nil || header.Get(tokenHeader) != "secret" || header.Get("A") != "b" {
		t.Errorf("header %v, error %v", header, err)
	}
	tk = &token{header: http.Header{}, file: file + "-missing"}
	if _, err := tk.get(); err == nil {
		t.Error("a token file that is missing is no error")
	}
}

func TestKongDiscovery(t *testing.T) {
	endpoint := func(pod, address string, terminating bool) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{
			Addresses: []string{address}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: pod},
			Conditions: discoveryv1.EndpointConditions{Ready: new(false), Terminating: &terminating},
		}
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kong", Name: "admin-1", Labels: map[string]string{discoveryv1.LabelServiceName: "admin"}},
		Ports:      []discoveryv1.EndpointPort{{Name: new("admin-tls"), Port: new(int32(8444))}, {Name: new("metrics"), Port: new(int32(1))}},
		Endpoints: []discoveryv1.Endpoint{
			endpoint("kong-b", "10.0.0.2", false), endpoint("kong-a", "fd00::1", false), endpoint("kong-c", "10.0.0.3", true), {Addresses: []string{"10.0.0.4"}},
		},
	}
	api := fake.NewClientset(slice)
	found, wait := discoverKong(t.Context(), api, source.Key{Namespace: "kong", Name: "admin"}, []string{"admin-tls"})
	t.Cleanup(wait)
	eventually(t, "two gateways", func() bool { return len(found.Endpoints()) == 2 })
	list := found.Endpoints()
	if list[0].URL != "https://10.0.0.2:8444" || list[0].ServerName != "kong-b.admin.kong.svc" || list[1].URL != "https://[fd00::1]:8444" {
		t.Errorf("gateways %v", list)
	}
	<-found.Changed()
	if err := api.DiscoveryV1().EndpointSlices("kong").Delete(t.Context(), "admin-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no gateway", func() bool { return len(found.Endpoints()) == 0 })
}
