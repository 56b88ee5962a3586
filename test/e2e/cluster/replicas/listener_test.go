// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// through asks a web server behind a port of the cluster's network, and gives what it answers, "" when nobody does.
func (e *environment) through(port int) string {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return testbed.Dialer{Netns: e.cluster.Netns}.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
		},
	}}
	response, err := client.Get("http://any.example/")
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return string(body)
}

// TestListeners edits the ConfigMap of TCP services in a namespace that is not the one watched: ports follow, endpoints too, and Events tell.
func TestListeners(t *testing.T) {
	e := running(t)
	ns := e.namespace(t)
	first, second := nextPort, nextPort+1
	nextPort += 2
	maps := e.client.CoreV1().ConfigMaps(own)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "tcp"}, Data: map[string]string{fmt.Sprint(first): ns + "/web:80"}}
	if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = maps.Delete(context.Background(), "tcp", metav1.DeleteOptions{}) }) // gone already where the test went well
	r := e.start(t, "listeners", "--watch-namespace", ns, "--tcp-services-configmap", own+"/tcp")
	eventually(t, "ready", r.ready)
	if got := e.through(first); got != "" {
		t.Errorf("without a Service the port answers %q", got)
	}
	e.deploy(t, ns)
	answers := func(port int) func() bool { return func() bool { return strings.Contains(e.through(port), "web") } }
	eventually(t, "the first port leads to the pod", answers(first))
	reloads := reloadsOf(t, []*replica{r})

	object.Data = map[string]string{fmt.Sprint(second): ns + "/web:80", "nonsense": ns + "/web:80"}
	if _, err := maps.Update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second port leads to the pod", answers(second))
	eventually(t, "the first port is closed", func() bool { return e.through(first) == "" })
	eventually(t, "Events tell of both", func() bool {
		told := e.events(t, own, "tcp")
		return told["UPDATE"] == "ConfigMap "+own+"/tcp" && strings.Contains(told["InvalidListener"], "nonsense")
	})
	if err := e.client.CoreV1().Pods(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nobody answers", func() bool { return e.through(second) == "" })
	if err := maps.Delete(t.Context(), "tcp", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is said that the ConfigMap is gone", func() bool {
		return r.metric(t, `fairway_problems{reason="MissingConfiguration"}`) == "1"
	})
	if n := reloadsOf(t, []*replica{r}); n != reloads {
		t.Errorf("nginx was reloaded %d times", n-reloads)
	}
}
