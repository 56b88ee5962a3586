// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPodsServicesAndRollout(t *testing.T) {
	m := start(t)
	m.kubectl("create", "deployment", "web", "--image=example.test/web", "--replicas=3", "--port=8080")
	m.kubectl("expose", "deployment", "web", "--type=LoadBalancer", "--port=80", "--target-port=8080")
	m.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
	pods := m.words("get", "pods", "-o", "jsonpath={.items[*].status.podIP}")
	if len(pods) != 3 {
		t.Fatalf("pods have addresses %v", pods)
	}
	m.until("EndpointSlices like the pods", func() bool {
		return slices.Equal(pods, m.words("get", "endpointslices", "-l", "kubernetes.io/service-name=web", "-o", "jsonpath={.items[*].endpoints[*].addresses[0]}"))
	})
	for _, ip := range pods {
		m.get(ip + ":8080")
	}
	m.get(m.kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}"))
	balanced := ""
	m.until("an address of the load balancer", func() bool {
		balanced = m.kubectl("get", "service", "web", "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}")
		return balanced != ""
	})
	before := m.get(balanced)

	m.kubectl("set", "env", "deployment/web", "GENERATION=2")
	m.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
	m.until("the old pods are gone", func() bool { return !strings.Contains(m.kubectl("get", "pods", "-o", "name"), before) })
	m.get(balanced)
	m.kubectl("delete", "deployment", "web")
	m.until("no pods", func() bool { return m.kubectl("get", "pods", "-o", "name") == "" })

	m.kubectl("create", "deployment", "scale", "--image=fake", "--replicas=50")
	m.kubectl("rollout", "status", "deployment/scale", "--timeout=60s")
}

// A controller runs as such a pod: it finds the API server by name and is let in with its token.
func TestPodReachesTheAPIServer(t *testing.T) {
	m := start(t, "--nodes", "1")
	const script = `cd /var/run/secrets/kubernetes.io/serviceaccount && echo "I am $POD_NAME" && touch /only-here &&
		curl -sf --cacert ca.crt -H "Authorization: Bearer $(cat token)" https://kubernetes.default.svc/version`
	m.kubectl("run", "client", "--image=debian", "--restart=Never", "--command", "--", "sh", "-c", script)
	m.until("the end of the pod", func() bool {
		phase := m.kubectl("get", "pod", "client", "-o", "jsonpath={.status.phase}")
		return phase == "Succeeded" || phase == "Failed"
	})
	if log := m.kubectl("logs", "client"); !strings.Contains(log, "I am client") || !strings.Contains(log, "gitVersion") {
		t.Errorf("the pod says: %s", log)
	}
	if _, err := os.Stat("/only-here"); err == nil {
		t.Error("a pod wrote to the machine's file system")
	}
}

func TestTwoSideBySideAndTheirEnds(t *testing.T) {
	owner := exec.Command("sleep", "600")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	owned := start(t, "--nodes", "1", "--owner-pid", fmt.Sprint(owner.Process.Pid), "--remove-dir")
	other := start(t, "--nodes", "1", "--remove-dir")
	if owned.Netns == other.Netns || owned.Kubeconfig == other.Kubeconfig {
		t.Fatal("two clusters share something")
	}
	// A pod with a process that has left its session and group, and that does not have the cluster's directory in its command line.
	for _, m := range []*machine{owned, other} {
		m.kubectl("run", "fork", "--image=debian", "--command", "--", "sh", "-c", "setsid sleep 600 & exec sleep 600")
		m.kubectl("wait", "pod/fork", "--for=condition=Ready", "--timeout=60s")
		m.look()
		m.until("the pod's processes", func() bool {
			return strings.Count(strings.Join(m.processes(), "\n"), "sleep 600") == 2
		})
	}
	owned.kubectl("create", "configmap", "here")
	if got := other.kubectl("get", "configmap", "here", "--ignore-not-found"); got != "" {
		t.Errorf("the other cluster has it too: %s", got)
	}

	// The owner is killed: its cluster goes, the other stays.
	owned.killHard(owner.Process.Pid)
	_ = owner.Wait() // it was killed, so this says so
	owned.mustBeGone()
	owned.mustHaveRemovedItsDir()
	other.kubectl("get", "nodes")

	// The supervisor itself is killed: its processes die with it, and a sweep removes its namespaces.
	other.killHard(other.supervisor())
	other.until("the processes are gone", func() bool { return len(other.processes()) == 0 })
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	other.mustBeGone()
	other.mustHaveRemovedItsDir()
}

func (m *machine) mustHaveRemovedItsDir() {
	m.t.Helper()
	if waitFor(5*time.Second, func() bool { _, err := os.Stat(m.dir); return os.IsNotExist(err) }) != nil {
		m.t.Errorf("%s is still there", m.dir)
	}
}

// An owner that is killed while its cluster starts ends that, too.
func TestOwnerEndsDuringStart(t *testing.T) {
	bin := programs(t)
	owner := exec.Command("sleep", "1")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	go owner.Wait()
	m := &machine{t: t, dir: filepath.Join(t.TempDir(), "cluster")}
	out, err := exec.Command(filepath.Join(bin, "cluster"), "up", "--detach", "--dir", m.dir, "--bin", bin, "--owner-pid", fmt.Sprint(owner.Process.Pid)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), errOwnerEnded.Error()) {
		t.Errorf("up: %v: %s", err, out)
	}
	m.mustBeGone()
}

// A namespace that is not a cluster's own is not taken over, and not removed.
func TestForeignNamespaceIsLeftAlone(t *testing.T) {
	bin := programs(t)
	name := freeNetns()
	if err := run(exec.Command("ip", "netns", "add", name)); err != nil {
		t.Fatal(err)
	}
	defer removeNetns(name)
	out, err := exec.Command(filepath.Join(bin, "cluster"), "up", "--detach", "--dir", t.TempDir(), "--bin", bin, "--netns", name).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is not that of a cluster") {
		t.Errorf("up: %v: %s", err, out)
	}
	if _, err := os.Stat(nsPath(name)); err != nil {
		t.Error(err)
	}
}

func TestAPIServerStopsAndStarts(t *testing.T) {
	m := start(t, "--nodes", "1")
	m.kubectl("create", "deployment", "web", "--image=example.test/web", "--port=8080")
	m.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
	ip := m.kubectl("get", "pods", "-o", "jsonpath={.items[0].status.podIP}")
	pod := m.get(ip + ":8080")

	m.cluster("stop", "apiserver", "--dir", m.dir)
	if _, err := m.curl("-k", "https://127.0.0.1:6443/readyz"); err == nil {
		t.Error("the API server answers although it is stopped")
	}
	time.Sleep(6 * time.Second) // so long that those who back off would be asleep for some seconds
	if got := m.get(ip + ":8080"); got != pod {
		t.Errorf("pod %s answers in place of %s", got, pod)
	}
	m.cluster("start", "apiserver", "--dir", m.dir)
	if got := m.kubectl("get", "pods", "-o", "jsonpath={.items[0].metadata.name}"); got != pod {
		t.Errorf("the pod is %s, was %s", got, pod)
	}
	m.kubectl("scale", "deployment", "web", "--replicas=3")
	m.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
}
