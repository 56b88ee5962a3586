// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/test/freeport"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// kongGateway serves a simulated gateway. It and the controllers stand beside the cluster: nothing of theirs goes to pods.
func kongGateway(t *testing.T, options kongtest.Options) (*kongtest.Simulator, string) {
	t.Helper()
	simulator := kongtest.New(options)
	server := httptest.NewServer(simulator)
	t.Cleanup(server.Close)
	return simulator, server.URL
}

// startKong starts a controller that drives gateways.
func (e *environment) startKong(t *testing.T, number int, flags ...string) *testbed.Process {
	t.Helper()
	return e.startKongAs(t, "default", number, flags...)
}

// startKongAs starts one whose pod is in that namespace.
func (e *environment) startKongAs(t *testing.T, namespace string, number int, flags ...string) *testbed.Process {
	t.Helper()
	dir, err := os.MkdirTemp(e.Dir, "kong") // short: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	health := freeport.Take(t)
	command := exec.Command(filepath.Join(e.Dir, "fairway"), append([]string{"controller",
		"--data-plane", "kong", "--kubeconfig", e.Cluster.Kubeconfig, "--runtime-dir", filepath.Join(dir, "run"), "--healthz-port", fmt.Sprint(health), "--healthz-host", "127.0.0.1",
		"--profiling=false", "--election-ttl", "4s", "--publish-status-address", "192.0.2.1", "--gateway-discovery-readiness-check-interval", "200ms"}, flags...)...)
	command.Env = append(os.Environ(), fmt.Sprintf("POD_NAME=kong-%d", number), "POD_NAMESPACE="+namespace)
	p, err := testbed.StartProcess(filepath.Join(dir, "log"), command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.End(syscall.SIGTERM)
		p.ShowLog(t, fmt.Sprintf("controller %d", number))
	})
	e.await(t, "readiness of a controller for Kong", func() bool { return testbed.Ready("", health) })
	return p
}

// kongClass makes the IngressClass kong, and gives what makes Ingresses of it.
func (e *environment) kongClass(t *testing.T) func(name, host string, plugins ...string) *netv1.Ingress {
	t.Helper()
	class := &netv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: "kong"}, Spec: netv1.IngressClassSpec{Controller: "ingress-controllers.konghq.com/kong"},
	}
	classes := e.Client.NetworkingV1().IngressClasses()
	if _, err := classes.Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = classes.Delete(context.WithoutCancel(t.Context()), "kong", metav1.DeleteOptions{}) })
	return func(name, host string, plugins ...string) *netv1.Ingress {
		ingress := newIngress(name, host, "/", "web")
		ingress.Spec.IngressClassName = &class.Name
		if len(plugins) > 0 {
			ingress.Annotations = map[string]string{"konghq.com/plugins": strings.Join(plugins, ",")}
		}
		return ingress
	}
}

// TestKongDataPlane drives a gateway with a database from a real cluster: endpoints, plugins of which one is broken, and a leader that dies.
func TestKongDataPlane(t *testing.T) {
	e := running(t)
	simulator, url := kongGateway(t, kongtest.Options{})
	ingress, namespace := e.kongClass(t), e.Namespace(t)
	objects := e.dynamic(t)
	installDefinitions(t, objects)
	create(t, objects, namespace, `{apiVersion: configuration.konghq.com/v1, kind: KongPlugin, metadata: {name: limit}, plugin: rate-limiting, config: {minute: 5}}`)
	create(t, objects, namespace,
		`{apiVersion: configuration.konghq.com/v1, kind: KongPlugin, metadata: {name: broken}, plugin: rate-limiting, config: {minute: many}}`)
	e.deploy(t, namespace, "web", 2)
	e.awaitRollout(t, namespace, "web")
	e.CreateIngress(t, namespace, ingress("good", "good.kong.test", "limit"))
	e.CreateIngress(t, namespace, ingress("bad", "bad.kong.test", "broken"))

	leader := e.startKong(t, 1, "--kong-admin-url", url)
	follower := e.startKong(t, 2, "--kong-admin-url", url)
	ask := func(host string) kongtest.Answer { return simulator.Route(kongtest.Request{Host: host, Path: "/x"}) }
	e.await(t, "both routes with both pods", func() bool {
		good, bad := ask("good.kong.test"), ask("bad.kong.test")
		return good.Status == 200 && len(good.Targets) == 2 && slices.Equal(good.Plugins, []string{"rate-limiting"}) && bad.Status == 200
	})
	e.await(t, "the condition of the broken plugin", func() bool { return programmed(t, objects, namespace, "broken") == "False" })
	e.await(t, "the condition of the good plugin", func() bool { return programmed(t, objects, namespace, "limit") == "True" })

	simulator.Forget()
	e.scale(t, namespace, "web", 3)
	e.await(t, "the third pod", func() bool { return len(ask("good.kong.test").Targets) == 3 })
	if calls := simulator.Writes(); len(calls) != 1 || calls[0].Method != http.MethodPost {
		t.Errorf("a new pod makes the writes %v, want one POST of a target", calls)
	}

	simulator.Forget()
	leader.End(syscall.SIGKILL)
	e.CreateIngress(t, namespace, ingress("late", "late.kong.test"))
	e.await(t, "the route that the other replica writes", func() bool { return ask("late.kong.test").Status == 200 })
	for _, c := range simulator.Writes() {
		if c.Path != "/routes/"+c.Path[strings.LastIndex(c.Path, "/")+1:] && !strings.HasPrefix(c.Path, "/plugins/") {
			t.Errorf("the new leader writes %s %s, which was there", c.Method, c.Path)
		}
	}
	follower.End(syscall.SIGTERM)
	if got := ask("good.kong.test"); got.Status != 200 {
		t.Errorf("once nobody runs any more: %+v", got)
	}
}

// TestKongWithoutDatabase drives two gateways that keep nothing; one of them restarts.
func TestKongWithoutDatabase(t *testing.T) {
	e := running(t)
	first, firstURL := kongGateway(t, kongtest.Options{DBLess: true})
	second, secondURL := kongGateway(t, kongtest.Options{DBLess: true, Version: "3.4.2"})
	ingress, namespace := e.kongClass(t), e.Namespace(t)
	e.deploy(t, namespace, "web", 1)
	e.awaitRollout(t, namespace, "web")
	e.CreateIngress(t, namespace, ingress("web", "web.kong.test"))
	e.startKong(t, 3, "--kong-admin-url", firstURL+","+secondURL)
	served := func(s *kongtest.Simulator) bool {
		return s.Route(kongtest.Request{Host: "web.kong.test", Path: "/"}).Status == 200
	}
	e.await(t, "the route on both gateways", func() bool { return served(first) && served(second) })
	second.Restart()
	e.await(t, "the route on the gateway that restarted", func() bool { return served(second) })
}

// programmed gives the status of the condition Programmed of a KongPlugin, or "".
func programmed(t *testing.T, client dynamic.Interface, namespace, name string) string {
	t.Helper()
	o, err := client.Resource(resourceOf("kongplugins", "v1")).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Programmed" {
			return fmt.Sprint(c["status"])
		}
	}
	return ""
}
