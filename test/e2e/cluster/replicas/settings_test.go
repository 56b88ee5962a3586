// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/settings"
)

// marker is a setting that acts by data and that a request can see: agents of this name are refused.
const marker = "block-user-agents"

// TestEveryLiveSetting edits the ConfigMap of two replicas once for each key that acts. Both must obey the edit; what acts by data must not
// cost a reload. The ledger is printed with -v.
func TestEveryLiveSetting(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns)
	e.CreateIngress(t, ns, newIngress("web", "live.example"))
	maps := e.Client.CoreV1().ConfigMaps(ns)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{marker: "edit-start"}}
	if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--configmap", ns + "/settings", "--publish-status-address", "192.0.2.80"}
	replicas := []*replica{e.start(t, "live-a", flags...), e.start(t, "live-b", flags...)}
	for _, r := range replicas {
		eventually(t, r.name+" obeys the first settings", func() bool { return r.refuses("edit-start") })
	}
	settle(t, replicas) // the start counts too

	var ledger strings.Builder
	edit := func(key settings.Key, n int) {
		data := settings.Companions(key.Name)
		data[key.Name] = key.Example
		data[marker] = fmt.Sprintf("edit-%d", n)
		before := reloadsOf(t, replicas)
		object.Data = data
		begin := time.Now()
		if _, err := maps.Update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, r := range replicas {
			eventually(t, r.name+" obeys "+key.Name, func() bool { return r.refuses(data[marker]) })
		}
		took := time.Since(begin)
		if key.Reload || len(data) > 2 {
			settle(t, replicas) // the marker, which is data, comes before the reload
		}
		reloads := reloadsOf(t, replicas) - before
		fmt.Fprintf(&ledger, "%-45s %-7s %d reloads of two replicas, seen by both after %d ms\n", key.Name, actsBy(key), reloads, took.Milliseconds())
		if !key.Reload && len(data) == 2 && reloads > 0 {
			t.Errorf("%s acts by data and cost %d reloads", key.Name, reloads)
		}
	}
	n := 0
	for _, reload := range []bool{false, true} { // first those that cost none, so that nothing is taken back that does
		for _, group := range settings.Groups() {
			for _, key := range group.Keys {
				if key.Reload == reload && key.Name != marker && !key.NotYet && key.Instead == "" && !hidesMarker[key.Name] {
					n++
					edit(key, n)
				}
			}
		}
	}
	t.Logf("%d settings, each an edit of the ConfigMap:\n%s", n, ledger.String())
}

// settle waits until no reload has ended for a third of a second.
func settle(t *testing.T, replicas []*replica) {
	t.Helper()
	last, since := reloadsOf(t, replicas), time.Now()
	for time.Since(since) < 333*time.Millisecond {
		time.Sleep(20 * time.Millisecond)
		if now := reloadsOf(t, replicas); now != last {
			last, since = now, time.Now()
		}
	}
}

// hidesMarker are settings under which the requests of this test get no usable answer; the others' cases show them.
var hidesMarker = map[string]bool{
	"use-proxy-protocol": true, // a connection must begin with a PROXY header
	"bind-address":       true, // of an address that this network does not have
	"bind-address-ipv4":  true,
	"bind-address-ipv6":  true,
}

func actsBy(key settings.Key) string {
	if key.Reload {
		return "reload"
	}
	return "data"
}

// refuses tells whether a request of an agent gets 403.
func (r *replica) refuses(agent string) bool {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: r.dial, DisableKeepAlives: true}}
	request, err := http.NewRequest(http.MethodGet, "http://live.example/", nil)
	if err != nil {
		return false
	}
	request.Header.Set("User-Agent", agent)
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusForbidden
}

// reloadsOf sums the counters of reloads.
func reloadsOf(t *testing.T, replicas []*replica) int {
	t.Helper()
	sum := 0
	for _, r := range replicas {
		_, body := r.ask("/metrics")
		for line := range strings.Lines(body) {
			if rest, found := strings.CutPrefix(strings.TrimSpace(line), "fairway_reload_total{"); found {
				n, err := strconv.ParseFloat(rest[strings.LastIndex(rest, " ")+1:], 64)
				if err != nil {
					t.Fatal(err)
				}
				sum += int(n)
			}
		}
	}
	return sum
}
