// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"strings"
	"testing"
	"time"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Two replicas tell of each thing once, under the names that `kubectl describe` looks for.
func TestEvents(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	flags := []string{"--publish-status-address", "192.0.2.40"}
	a, b := e.start(t, "events-a", flags...), e.start(t, "events-b", flags...)
	leaderOf(t, a, b)
	eventually(t, "both ready", func() bool { return a.ready() && b.ready() })
	i := newIngress("web", "events.example") // there is no Service web
	i.Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-body-size": "a lot"}
	e.CreateIngress(t, ns, i)
	eventually(t, "Events of all kinds", func() bool {
		found := e.events(t, ns, "web")
		return found["Sync"] != "" && strings.Contains(found["MissingService"], "web") && strings.Contains(found["AnnotationParsingFailed"], "proxy-body-size")
	})
	made, err := e.Client.NetworkingV1().Ingresses(ns).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // for what should not come
	list, err := e.Client.CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(made.UID)})
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range list.Items {
		t.Logf("%s %s %d× %s", event.Type, event.Reason, event.Count, event.Message)
		if event.Count != 1 {
			t.Errorf("%s was sent %d times", event.Reason, event.Count)
		}
	}
	if len(list.Items) != 3 {
		t.Errorf("%d Events about the Ingress, want 3", len(list.Items))
	}
	for _, r := range []*replica{a, b} {
		eventually(t, "an Event about the start of nginx", func() bool { return e.events(t, own, r.name)["RELOAD"] != "" })
	}
}

// Against another controller of the same class, a few writes are made, and then a word is said.
func TestContest(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.CreateIngress(t, ns, newIngress("web", "contest.example"))
	e.CreateIngress(t, ns, newIngress("peaceful", "peaceful.example"))
	r := e.start(t, "contest", "--publish-status-address", "192.0.2.50")
	overwritten := 0
	overwrite := func() {
		i, err := e.Client.NetworkingV1().Ingresses(ns).Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if list := i.Status.LoadBalancer.Ingress; len(list) == 0 || list[0].IP != "192.0.2.50" {
			return
		}
		i.Status.LoadBalancer.Ingress = []netv1.IngressLoadBalancerIngress{{IP: "192.0.2.66"}}
		if _, err := e.Client.NetworkingV1().Ingresses(ns).UpdateStatus(t.Context(), i, metav1.UpdateOptions{FieldManager: "elsewhere"}); err != nil {
			t.Fatal(err)
		}
		overwritten++
	}
	eventually(t, "a word about it", func() bool {
		overwrite()
		return strings.Contains(e.events(t, ns, "web")["ContestedStatus"], `"elsewhere" keeps writing 192.0.2.66`)
	})
	for range 300 { // it stays with that
		overwrite()
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("%d writes were overwritten; then: %s", overwritten, e.events(t, ns, "web")["ContestedStatus"])
	if overwritten > 3 {
		t.Errorf("%d writes before giving way", overwritten)
	}
	if got := r.metric(t, "fairway_status_contested"); got != "1" {
		t.Errorf("the metric says %q", got)
	}
	e.eventuallyAddresses(t, ns, "peaceful", "192.0.2.50")
	if !strings.Contains(r.Log(), "Ingress "+ns+"/web") {
		t.Error("the log does not name the Ingress")
	}
}

// Without a Service to publish, the nodes of ready replicas are published.
func TestNodeAddresses(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.CreateIngress(t, ns, newIngress("web", "nodes.example"))
	a := e.start(t, "nodes-a")
	want := func(replicas ...*replica) string {
		var list []string
		for _, r := range replicas {
			pod, err := e.Client.CoreV1().Pods(own).Get(t.Context(), r.name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			node, err := e.Client.CoreV1().Nodes().Get(t.Context(), pod.Spec.NodeName, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, node.Status.Addresses[0].Address)
		}
		return joined(list)
	}
	e.eventuallyAddresses(t, ns, "web", want(a))
	b := e.start(t, "nodes-b")
	e.eventuallyAddresses(t, ns, "web", want(a, b))
	b.stop(t)
	e.eventuallyAddresses(t, ns, "web", want(a))
}
