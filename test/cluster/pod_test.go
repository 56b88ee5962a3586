// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func testNodes(count int) (nodes []*node) {
	for i := range count {
		name := fmt.Sprintf("node-%d", i+1)
		nodes = append(nodes, &node{name: name, object: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		}})
	}
	return nodes
}

func owned(uid, owner string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), OwnerReferences: []metav1.OwnerReference{
		{UID: types.UID(owner), Controller: pointer(true)},
	}}}
}

func TestPodsOfOneOwnerSpread(t *testing.T) {
	r := &runner{nodes: testNodes(3), workers: map[types.UID]*worker{}}
	seen := map[string]int{}
	for i := range 6 {
		pod := owned(fmt.Sprint(i), "web")
		n := r.place(pod)
		r.workers[pod.UID] = &worker{node: n, pod: pod}
		seen[n.name]++
	}
	if seen["node-1"] != 2 || seen["node-2"] != 2 || seen["node-3"] != 2 {
		t.Errorf("pods by node: %v", seen)
	}
}

func TestNodeSelector(t *testing.T) {
	r := &runner{nodes: testNodes(3)}
	pod := owned("1", "web")
	pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "node-2"}
	if n := r.place(pod); n == nil || n.name != "node-2" {
		t.Errorf("placed on %+v", n)
	}
	pod.Spec.NodeSelector[corev1.LabelHostname] = "node-9"
	if n := r.place(pod); n != nil {
		t.Errorf("placed on %s, which does not match", n.name)
	}
}

func TestAddressesAreNotReusedSoon(t *testing.T) {
	r := &runner{podIPs: map[string]bool{}, lastIP: 255}
	seen := map[string]bool{}
	for range 600 {
		ip, err := r.allocateIP()
		if err != nil || seen[ip] {
			t.Fatalf("%s again (%v)", ip, err)
		}
		seen[ip] = true
		r.releaseIP(ip)
	}
	if !seen["10.244.1.1"] || seen["10.244.1.0"] || seen["10.244.1.255"] || !seen["10.244.2.1"] {
		t.Error("wrong addresses")
	}
}

func TestPodPhase(t *testing.T) {
	ended := func(code int32) *container {
		return &container{done: true, state: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
	}
	running := func(ready bool) *container {
		return &container{ready: ready, state: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	}
	waits := func() *container { return &container{state: waiting("ContainerCreating")} }
	for _, c := range []struct {
		name       string
		containers []*container
		phase      corev1.PodPhase
		ready      corev1.ConditionStatus
	}{
		{"waiting", []*container{waits()}, corev1.PodPending, corev1.ConditionFalse},
		{"not ready", []*container{running(true), running(false)}, corev1.PodRunning, corev1.ConditionFalse},
		{"ready", []*container{running(true), running(true)}, corev1.PodRunning, corev1.ConditionTrue},
		{"one ended", []*container{running(true), ended(0)}, corev1.PodRunning, corev1.ConditionFalse},
		{"all ended well", []*container{ended(0), ended(0)}, corev1.PodSucceeded, corev1.ConditionFalse},
		{"one ended badly", []*container{ended(0), ended(1)}, corev1.PodFailed, corev1.ConditionFalse},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &worker{node: &node{ip: "172.18.0.11"}, pod: &corev1.Pod{}, containers: c.containers}
			for _, container := range c.containers {
				container.w, container.spec, container.image = w, &corev1.Container{}, &image{}
			}
			status := w.status()
			if status.Phase != c.phase {
				t.Errorf("phase %s, want %s", status.Phase, c.phase)
			}
			i := slices.IndexFunc(status.Conditions, func(s corev1.PodCondition) bool { return s.Type == corev1.PodReady })
			if got := status.Conditions[i].Status; got != c.ready {
				t.Errorf("ready %s, want %s", got, c.ready)
			}
		})
	}
}

func TestPayloadChangesAtOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(files map[string][]byte) {
		t.Helper()
		if err := writePayload(dir, files); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	write(map[string][]byte{"a": []byte("1"), "sub/b": []byte("2")})
	if read("a") != "1" || read("sub/b") != "2" {
		t.Errorf("a %q, sub/b %q", read("a"), read("sub/b"))
	}
	before, _ := os.Readlink(filepath.Join(dir, "..data"))
	write(map[string][]byte{"a": []byte("1"), "sub/b": []byte("2")})
	if same, _ := os.Readlink(filepath.Join(dir, "..data")); same != before {
		t.Error("rewritten although equal")
	}
	write(map[string][]byte{"a": []byte("3")})
	if _, err := os.Lstat(filepath.Join(dir, "sub")); read("a") != "3" || err == nil {
		t.Errorf("a %q, sub is still there: %t", read("a"), err == nil)
	}
	if _, err := os.Stat(filepath.Join(dir, before)); err == nil {
		t.Error("the old content was not removed")
	}
}

func TestLastLines(t *testing.T) {
	for _, c := range []struct{ in, count, want string }{
		{"a\nb\nc\n", "2", "b\nc\n"}, {"a\nb", "1", "b"}, {"a\n", "5", "a\n"}, {"", "1", ""}, {"a\n", "0", ""},
	} {
		if got := string(lastLines([]byte(c.in), c.count)); got != c.want {
			t.Errorf("%q, %s: got %q, want %q", c.in, c.count, got, c.want)
		}
	}
}
