// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// manyIngresses are there when the controllers start.
const manyIngresses = 1000

// kongSync is a cluster with many Ingresses, a gateway with a database, and two without, of which one is older and lacks a plugin.
type kongSync struct {
	*environment
	*testing.T
	namespace  string
	objects    dynamic.Interface
	withDB     *kongtest.Simulator
	dbless     [2]*kongtest.Simulator
	dbURL      string
	dblessURLs [2]string
	withoutDB  *testbed.Process
	newIngress func(name, host string, plugins ...string) *netv1.Ingress
}

// gateways lists all of them.
func (s *kongSync) gateways() []*kongtest.Simulator {
	return []*kongtest.Simulator{s.withDB, s.dbless[0], s.dbless[1]}
}

func (s *kongSync) forget() {
	for _, g := range s.gateways() {
		g.Forget()
	}
}

// served tells whether all gateways send requests for a host on to so many pods.
func (s *kongSync) served(host, path string, targets int) bool {
	for _, g := range s.gateways() {
		if a := g.Route(kongtest.Request{Host: host, Path: path}); a.Status != 200 || len(a.Targets) != targets {
			return false
		}
	}
	return true
}

// wantWrites demands one write of an entity in the database, and one document for each gateway without.
func (s *kongSync) wantWrites(what, method, path string) {
	s.Helper()
	calls := s.withDB.Writes()
	if len(calls) != 1 || calls[0].Method != method || !strings.Contains(calls[0].Path, path) {
		s.Errorf("%s makes %d writes to the database, want one %s of %s: %.5v", what, len(calls), method, path, requestLines(calls))
	}
	for i, g := range s.dbless {
		if calls := g.Writes(); len(calls) != 1 || calls[0].Path != "/config" {
			s.Errorf("%s makes %d writes to gateway %d without a database, want one document: %.5v", what, len(calls), i, requestLines(calls))
		}
	}
}

func requestLines(calls []kongtest.Call) []string {
	var lines []string
	for _, c := range calls {
		lines = append(lines, fmt.Sprintf("%s %s %d", c.Method, c.Path, c.Status))
	}
	return lines
}

// send is what somebody else asks of a gateway.
func (s *kongSync) send(method, url, body string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), method, url, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode >= 300 {
		s.Fatalf("%s %s: %d %.200s", method, url, response.StatusCode, text)
	}
}

// limits gives the limits per minute that a gateway has.
func limits(g *kongtest.Simulator) []string {
	var all []string
	for _, p := range g.Entities("plugins") {
		if config, ok := p["config"].(map[string]any); ok && p["name"] == "rate-limiting" {
			all = append(all, fmt.Sprint(config["minute"]))
		}
	}
	slices.Sort(all)
	return all
}

// TestKongSync shows in both modes, with a real control plane as source, what a change costs, that one broken plugin harms nobody, that gateways that
// restarted or were tampered with are repaired, and that nothing of others is touched.
func TestKongSync(t *testing.T) {
	e := running(t)
	s := &kongSync{environment: e, T: t}
	s.prepare()
	s.coldSync()
	s.changes()
	s.restarts()
	s.tampering()
	s.brokenPlugin()
	for _, path := range []string{"/services/theirs", "/routes/theirs"} {
		s.send("GET", s.dbURL+path, "")
	}
}

func (s *kongSync) prepare() {
	t := s.T
	s.withDB, s.dbURL = kongGateway(t, kongtest.Options{})
	s.dbless[0], s.dblessURLs[0] = kongGateway(t, kongtest.Options{DBLess: true})
	lacking := slices.DeleteFunc(kongtest.Bundled(), func(name string) bool { return name == "rate-limiting" })
	s.dbless[1], s.dblessURLs[1] = kongGateway(t, kongtest.Options{DBLess: true, Version: "3.4.2", Plugins: lacking})
	s.send("POST", s.dbURL+"/services", `{"name":"theirs","host":"theirs.example"}`)
	s.send("POST", s.dbURL+"/services/theirs/routes", `{"name":"theirs","hosts":["theirs.example"]}`)

	s.newIngress, s.namespace = s.kongClass(t), s.environment.Namespace(t)
	config, err := clientcmd.BuildConfigFromFlags("", s.Cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = 2000, 2000
	if s.objects, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	installDefinitions(t, s.objects)
	for name, minute := range map[string]string{"limit": "5", "broken": "many"} {
		create(t, s.objects, s.namespace, fmt.Sprintf(
			"{apiVersion: configuration.konghq.com/v1, kind: KongPlugin, metadata: {name: %s}, plugin: rate-limiting, config: {minute: %s}}", name, minute))
	}
	s.deploy(t, s.namespace, "web", 2)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ingresses := client.NetworkingV1().Ingresses(s.namespace)
	var wait sync.WaitGroup
	for worker := range 16 {
		wait.Go(func() {
			for i := worker; i < manyIngresses; i += 16 {
				var plugins []string
				switch i {
				case 0:
					plugins = []string{"limit"}
				case 1:
					plugins = []string{"broken"}
				}
				ingress := s.newIngress(fmt.Sprintf("web-%d", i), manyHost(i), plugins...)
				if _, err := ingresses.Create(t.Context(), ingress, metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	s.awaitRollout(t, s.namespace, "web")
}

func manyHost(i int) string { return fmt.Sprintf("web-%d.kong.test", i) }

// start runs a controller that sees nothing of other tests, some of whose Ingresses may be about to go.
func (s *kongSync) start(number int, flags ...string) *testbed.Process {
	return s.startKong(s.T, number, append(flags, "--update-status=false", "--watch-namespace", s.namespace)...)
}

func (s *kongSync) startWithoutDB(number int) {
	s.withoutDB = s.start(number, "--kong-admin-url", strings.Join(s.dblessURLs[:], ","))
}

// coldSync counts what it takes to fill empty gateways.
func (s *kongSync) coldSync() {
	s.forget()
	s.start(5, "--kong-admin-url", s.dbURL, "--enable-reverse-sync")
	s.startWithoutDB(6)
	s.await(s.T, "all routes on all gateways", func() bool {
		return s.served(manyHost(0), "/x", 2) && s.served(manyHost(1), "/x", 2) && s.served(manyHost(manyIngresses-1), "/x", 2)
	})
	// A route each; one service, upstream, plugin, and plugin that is refused; two targets.
	if n := len(s.withDB.Writes()); n != manyIngresses+6 {
		s.Errorf("%d Ingresses make %d writes to the database, want one for each entity", manyIngresses, n)
	}
	// The document with the broken plugin is refused, the one without it taken. Who lacks the plugin was not given it.
	for i, want := range []int{2, 1} {
		if calls := s.dbless[i].Writes(); len(calls) != want {
			s.Errorf("gateway %d without a database gets %v, want %d documents", i, requestLines(calls), want)
		}
		if n := len(s.dbless[i].Entities("routes")); n != manyIngresses {
			s.Errorf("gateway %d without a database has %d routes", i, n)
		}
	}
	for i, want := range [][]string{{"5"}, {"5"}, nil} {
		if got := limits(s.gateways()[i]); !slices.Equal(got, want) {
			s.Errorf("gateway %d has the limits %v, want %v", i, got, want)
		}
	}
}

// changes counts what one route and one endpoint cost.
func (s *kongSync) changes() {
	s.forget()
	s.UpdateIngress(s.T, s.namespace, "web-7", func(i *netv1.Ingress) { i.Spec.Rules[0].HTTP.Paths[0].Path = "/v2" })
	s.await(s.T, "the other path on all gateways", func() bool {
		return s.served(manyHost(7), "/v2", 2) && !slices.ContainsFunc(s.gateways(), func(g *kongtest.Simulator) bool {
			return g.Route(kongtest.Request{Host: manyHost(7), Path: "/x"}).Status != 404
		})
	})
	s.wantWrites("a change of one route", http.MethodPut, "/routes/")

	s.forget()
	s.scale(s.T, s.namespace, "web", 3)
	s.await(s.T, "the third pod on all gateways", func() bool { return s.served(manyHost(0), "/x", 3) })
	s.wantWrites("a new pod", http.MethodPost, "/targets")
}

// restarts has all gateways restart: those without a database come back empty.
func (s *kongSync) restarts() {
	s.forget()
	for _, g := range s.gateways() {
		g.Restart()
	}
	s.await(s.T, "routes on gateways that restarted", func() bool { return s.served(manyHost(0), "/x", 3) && s.served(manyHost(7), "/v2", 3) })
	for i, g := range s.dbless {
		if calls := g.Writes(); len(calls) != 1 {
			s.Errorf("gateway %d without a database gets %v after a restart, want one document", i, requestLines(calls))
		}
	}
	if calls := s.withDB.Writes(); len(calls) != 0 {
		s.Errorf("a gateway that restarted makes the writes %v to its database", requestLines(calls))
	}
}

// tampering changes what gateways hold by hand.
func (s *kongSync) tampering() {
	for _, route := range s.withDB.Entities("routes") {
		if hosts, _ := route["hosts"].([]any); len(hosts) == 1 && hosts[0] == manyHost(9) {
			s.forget()
			s.send("PATCH", s.dbURL+"/routes/"+route["id"].(string), `{"hosts":["evil.example"]}`)
		}
	}
	document, err := json.Marshal(map[string]string{"config": `{"_format_version":"3.0","services":[{"name":"evil","host":"evil.example"}]}`})
	if err != nil {
		s.Fatal(err)
	}
	s.send("POST", s.dblessURLs[0]+"/config", string(document))
	s.await(s.T, "the repair of what was changed by hand", func() bool { return s.served(manyHost(9), "/x", 3) })
	if calls := s.withDB.Writes(); len(calls) != 2 || calls[1].Method != http.MethodPut {
		s.Errorf("the writes are %v, want the one by hand and its repair", requestLines(calls))
	}
	for _, call := range s.withDB.Writes() {
		if strings.Contains(call.Path, "theirs") {
			s.Errorf("%s %s touches what is not ours", call.Method, call.Path)
		}
	}
}

// brokenPlugin breaks a plugin that was in force, and has the controller start anew while it is broken.
func (s *kongSync) brokenPlugin() {
	s.forget()
	plugins := s.objects.Resource(resourceOf("kongplugins", "v1")).Namespace(s.namespace)
	if _, err := plugins.Patch(s.Context(), "limit", types.MergePatchType, []byte(`{"config":{"minute":"few"}}`), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
	s.await(s.T, "an attempt in both modes", func() bool { return len(s.withDB.Writes()) > 0 && len(s.dbless[0].Writes()) > 0 })
	s.withoutDB.End(syscall.SIGKILL)
	s.startWithoutDB(7)
	s.CreateIngress(s.T, s.namespace, s.newIngress("late", "late.kong.test"))
	s.await(s.T, "the late route", func() bool { return s.served("late.kong.test", "/x", 3) })
	for i, want := range [][]string{{"5"}, {"5"}, nil} {
		if got := limits(s.gateways()[i]); !slices.Equal(got, want) {
			s.Errorf("while the plugin is broken gateway %d has the limits %v, want the last good %v", i, got, want)
		}
	}
}
