// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"testing"
	"time"
)

// A leader that is killed is followed within --election-ttl, and the status of Ingresses goes on. The other replica has served all the while.
func TestLeaderKilled(t *testing.T) {
	const ttl = 15 * time.Second
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns)
	flags := []string{"--election-ttl", ttl.String(), "--publish-status-address", "192.0.2.10"}
	a, b := e.start(t, "killed-a", flags...), e.start(t, "killed-b", flags...)
	eventually(t, "both ready", func() bool { return a.ready() && b.ready() })
	leader, others := leaderOf(t, a, b)
	if value := others[0].metric(t, leaderSeries); value != "" {
		t.Errorf("who never led has a series of value %s", value)
	}
	e.CreateIngress(t, ns, newIngress("before", "before.example"))
	e.eventuallyAddresses(t, ns, "before", "192.0.2.10")
	eventually(t, "an Event that the Ingress is in force", func() bool { return e.events(t, ns, "before")["Sync"] != "" })

	leader.kill(t)
	killed := time.Now()
	e.CreateIngress(t, ns, newIngress("after", "after.example"))
	e.eventuallyAddresses(t, ns, "after", "192.0.2.10")
	took := time.Since(killed)
	t.Logf("a status was written %.1f s after the leader was killed; --election-ttl is %s", took.Seconds(), ttl)
	if took > ttl {
		t.Errorf("that is longer than --election-ttl")
	}
	if !others[0].leads(t) {
		t.Error("the other replica does not lead")
	}
	leader.leave(t.Context())
	leader.gone(t.Context())
}

// A leader that is stopped hands over at once, and the addresses stay while another replica runs. The last one takes them out.
func TestLeaderStopped(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	flags := []string{"--election-ttl", "30s", "--publish-status-address", "192.0.2.20"}
	a, b := e.start(t, "stopped-a", flags...), e.start(t, "stopped-b", flags...)
	eventually(t, "both ready", func() bool { return a.ready() && b.ready() })
	leader, others := leaderOf(t, a, b)
	e.CreateIngress(t, ns, newIngress("web", "stopped.example"))
	e.eventuallyAddresses(t, ns, "web", "192.0.2.20")
	leader.stop(t)
	stopped := time.Now()
	if got := e.addresses(t, ns, "web"); got != "192.0.2.20" {
		t.Errorf("after the leader has stopped: %q", got)
	}
	leaderOf(t, others[0])
	if took := time.Since(stopped); took > 10*time.Second { // a third of the TTL
		t.Errorf("the next leader came %s after the last had ended", took)
	}
	others[0].stop(t)
	if got := e.addresses(t, ns, "web"); got != "" {
		t.Errorf("after the last replica has stopped: %q", got)
	}
}
