// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machine is a running cluster of a test.
type machine struct {
	t   *testing.T
	dir string
	access
}

// programs gives the folder of built programs, or skips the test.
func programs(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root for network namespaces")
	}
	bin := os.Getenv("BIN")
	if bin == "" {
		bin = defaultBin()
	}
	if _, err := os.Stat(filepath.Join(bin, "apiserver")); err != nil {
		t.Skipf("the control plane is not built: run test/cluster/build.sh: %v", err)
	}
	return bin
}

// start runs `cluster up` until the test ends.
func start(t *testing.T, flags ...string) *machine {
	t.Helper()
	bin := programs(t)
	m := &machine{t: t, dir: t.TempDir()}
	args := append([]string{"up", "--detach", "--dir", m.dir, "--bin", bin}, flags...)
	if out, err := exec.Command(filepath.Join(bin, "cluster"), args...).CombinedOutput(); err != nil {
		t.Fatalf("up: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(filepath.Join(bin, "cluster"), "down", "--dir", m.dir).CombinedOutput(); err != nil {
			t.Errorf("down: %v: %s", err, out)
		}
		m.mustBeGone()
	})
	text, err := os.ReadFile(filepath.Join(m.dir, infoFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m.access); err != nil {
		t.Fatal(err)
	}
	return m
}

// kubectl gives the trimmed output of a command on namespace default.
func (m *machine) kubectl(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("kubectl", append([]string{"--kubeconfig", m.Kubeconfig}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// get asks an address inside the cluster and gives the name of the pod that answers.
func (m *machine) get(address string) string {
	m.t.Helper()
	out, err := exec.Command(filepath.Join(m.Bin, "cluster"), "exec", "--dir", m.dir, "--", "curl", "-sf", "-m", "5", "http://"+address+"/").Output()
	if err != nil {
		m.t.Fatalf("get %s: %v", address, err)
	}
	var echo struct{ Pod string }
	if err := json.Unmarshal(out, &echo); err != nil {
		m.t.Fatal(err)
	}
	return echo.Pod
}

func (m *machine) until(what string, done func() bool) {
	m.t.Helper()
	if waitFor(60*time.Second, done) != nil {
		m.t.Fatalf("%s: never came", what)
	}
}

// mustBeGone demands that no process and no namespace of the cluster is left.
func (m *machine) mustBeGone() {
	m.t.Helper()
	left := ""
	if waitFor(20*time.Second, func() bool {
		left = strings.Join(m.leftovers(), ", ")
		return left == ""
	}) != nil {
		m.t.Errorf("left behind: %s", left)
	}
}

func (m *machine) leftovers() []string {
	spaces, _ := filepath.Glob(nsPath(m.Netns + "*"))
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), m.dir) {
			spaces = append(spaces, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return spaces
}

func TestPodsServicesAndRollout(t *testing.T) {
	m := start(t)
	m.kubectl("create", "deployment", "web", "--image=example.test/web", "--replicas=3", "--port=8080")
	m.kubectl("expose", "deployment", "web", "--type=LoadBalancer", "--port=80", "--target-port=8080")
	m.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
	words := func(args ...string) []string {
		list := strings.Fields(m.kubectl(args...))
		slices.Sort(list)
		return list
	}
	pods := words("get", "pods", "-o", "jsonpath={.items[*].status.podIP}")
	m.until("EndpointSlices like the pods", func() bool {
		return slices.Equal(pods, words("get", "endpointslices", "-l", "kubernetes.io/service-name=web", "-o", "jsonpath={.items[*].endpoints[*].addresses[0]}"))
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
}

func TestTwoSideBySideAndTheirEnds(t *testing.T) {
	owner := exec.Command("sleep", "600")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	owned := start(t, "--nodes", "1", "--owner-pid", fmt.Sprint(owner.Process.Pid))
	other := start(t, "--nodes", "1")
	if owned.Netns == other.Netns || owned.Kubeconfig == other.Kubeconfig {
		t.Fatal("two clusters share something")
	}
	owned.kubectl("create", "configmap", "here")
	if got := other.kubectl("get", "configmap", "here", "--ignore-not-found"); got != "" {
		t.Errorf("the other cluster has it too: %s", got)
	}

	// The owner is killed: its cluster goes, the other stays.
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it was killed, so this says so
	owned.mustBeGone()
	other.kubectl("get", "nodes")

	// The supervisor itself is killed: its processes die with it, and a sweep removes its namespaces.
	o := options{dir: other.dir}
	if err := syscall.Kill(o.pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	other.until("the processes are gone", func() bool {
		return !slices.ContainsFunc(other.leftovers(), func(l string) bool { return !strings.HasPrefix(l, "/run/netns/") })
	})
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	other.mustBeGone()
}

func TestAPIServerStopsAndStarts(t *testing.T) {
	m := start(t, "--nodes", "1")
	m.kubectl("create", "configmap", "kept")
	part := func(verb string) {
		t.Helper()
		if out, err := exec.Command(filepath.Join(m.Bin, "cluster"), verb, "apiserver", "--dir", m.dir).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", verb, err, out)
		}
	}
	part("stop")
	if err := exec.Command("kubectl", "--kubeconfig", m.Kubeconfig, "--request-timeout=3s", "get", "nodes").Run(); err == nil {
		t.Error("the API server answers although it is stopped")
	}
	part("start")
	m.until("the API server is back", func() bool {
		return exec.Command("kubectl", "--kubeconfig", m.Kubeconfig, "get", "configmap", "kept").Run() == nil
	})
	m.kubectl("create", "deployment", "web", "--image=example.test/web", "--port=8080")
	m.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
}
