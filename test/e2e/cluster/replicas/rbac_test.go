// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// call is a line of the audit log.
type call struct {
	Verb        string
	RequestURI  string
	User        struct{ Username string }
	ObjectRef   struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	Annotations map[string]string
}

// forbidden tells whether the account had no right. Status 403 alone does not: it is also the answer in a namespace that is about to end.
func (c *call) forbidden() bool { return c.Annotations["authorization.k8s.io/decision"] != "allow" }

// right is a verb on a resource of a group.
type right struct{ group, resource, verb string }

func (r right) String() string { return fmt.Sprintf("%s %s.%s", r.verb, r.resource, r.group) }

func (c *call) right() right {
	resource := c.ObjectRef.Resource
	if c.ObjectRef.Subresource != "" {
		resource += "/" + c.ObjectRef.Subresource
	}
	return right{c.ObjectRef.APIGroup, resource, c.Verb}
}

// streamed is why a right to list goes with a right to watch.
const streamed = "this API server streams the first list through the watch; others, and this one when it can't, are asked for a list"

// unused are rights that are granted although this test sees no use of them, with the reason.
var unused = map[right]string{
	{"", "configmaps", "list"}:                     streamed,
	{"", "namespaces", "list"}:                     streamed,
	{"", "secrets", "list"}:                        streamed,
	{"", "services", "list"}:                       streamed,
	{"discovery.k8s.io", "endpointslices", "list"}: streamed,
	{"networking.k8s.io", "ingresses", "list"}:     streamed,
}

// calls reads what a ServiceAccount asked for.
func (e *environment) calls(t *testing.T, account string) []call {
	t.Helper()
	file, err := os.Open(filepath.Join(e.Dir, auditLog))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []call
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("audit log: %v: %s", err, lines.Bytes())
		}
		if c.User.Username == "system:serviceaccount:"+own+":"+account {
			list = append(list, c)
		}
	}
	return list
}

// granted lists the rights of some rules.
func granted(rules []rbacv1.PolicyRule) map[right]bool {
	all := map[right]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all[right{group, resource, verb}] = true
				}
			}
		}
	}
	return all
}

// TestRights compares what replicas of all kinds of flags ask the API server for with deploy/rbac.yaml, both ways.
func TestRights(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns)
	e.makeNamed(t, ns)
	kinds := [][]string{
		{"--configmap", ns + "/settings", "--enable-topology-aware-routing", "--watch-namespace-selector", "kubernetes.io/metadata.name=" + ns},
		{"--publish-service", ns + "/web", "--default-backend-service", ns + "/web"},
		{"--watch-namespace", ns},
	}
	for n, flags := range kinds {
		r := e.start(t, fmt.Sprintf("rights-%d", n), flags...)
		eventually(t, "ready", r.ready)
		leaderOf(t, r)
		name := fmt.Sprintf("web-%d", n)
		e.useNamed(t, ns, name)
		eventually(t, "a status", func() bool { return e.addresses(t, ns, name) != "" })
		e.changeTwice(t, ns, name)
		r.stop(t)
		if got := e.addresses(t, ns, name); got != "" {
			t.Errorf("after the end of the last replica: %q", got)
		}
	}
	cluster, local := granted(e.rules.clusterRole.Rules), granted(e.rules.role.Rules)
	used := map[right]bool{}
	for _, c := range e.calls(t, own) {
		if c.forbidden() {
			t.Errorf("forbidden: %s %s", c.Verb, c.RequestURI)
		}
		used[c.right()] = true
	}
	for _, role := range []map[right]bool{cluster, local} {
		for r := range role {
			if !used[r] && unused[r] == "" {
				t.Errorf("deploy/rbac.yaml grants a right that is not used: %s", r)
			}
			if used[r] && unused[r] != "" {
				t.Errorf("%s is used: take it out of the exceptions", r)
			}
		}
	}
	for r := range used {
		if !cluster[r] && !local[r] {
			t.Errorf("used, and not granted by name: %s", r)
		}
	}
	var lines []string
	for r := range used {
		lines = append(lines, r.String())
	}
	slices.Sort(lines)
	t.Logf("rights used:\n%s", strings.Join(lines, "\n"))
}

// makeNamed makes a Secret and ConfigMaps, before anybody names them.
func (e *environment) makeNamed(t *testing.T, namespace string) {
	t.Helper()
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	if _, err := e.Client.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: meta("users")}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"settings", "headers"} {
		if _, err := e.Client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta(name)}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// useNamed makes an Ingress that names them, when their content has not been kept.
func (e *environment) useNamed(t *testing.T, namespace, name string) {
	t.Helper()
	i := newIngress(name, name+".rights.example")
	i.Annotations = map[string]string{
		"nginx.ingress.kubernetes.io/auth-type": "basic", "nginx.ingress.kubernetes.io/auth-secret": "users",
		"nginx.ingress.kubernetes.io/custom-headers": "headers",
	}
	e.CreateIngress(t, namespace, i)
}

// changeTwice makes the same Event be sent again.
func (e *environment) changeTwice(t *testing.T, namespace, name string) {
	t.Helper()
	for n := range 3 {
		e.UpdateIngress(t, namespace, name, func(i *netv1.Ingress) { i.Labels = map[string]string{"n": fmt.Sprint(n)} })
		eventually(t, "an Event that the Ingress is in force, again", func() bool {
			list, err := e.Client.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name + ",reason=Sync"})
			return err == nil && len(list.Items) > 0 && int(list.Items[0].Count) > n
		})
	}
}
