// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// replica is a running Fairway with a Pod object in its name.
type replica struct {
	*testbed.Process
	e          *environment
	name       string
	http, own  int // ports
	dir        string
	stillAPod  bool
	kubeconfig string
}

// nextPort is of the cluster's network, which is ours alone, and below what its outgoing connections take.
var nextPort = 11000

// start starts a replica, without waiting until it is ready.
func (e *environment) start(t *testing.T, name string, flags ...string) *replica {
	t.Helper()
	return e.startAs(t, e.kubeconfig, name, flags...)
}

func (e *environment) startAs(t *testing.T, kubeconfig, name string, flags ...string) *replica {
	t.Helper()
	r := &replica{e: e, name: name, http: nextPort, own: nextPort + 2, dir: filepath.Join(e.Dir, name), kubeconfig: kubeconfig}
	nextPort += 3
	r.makePod(t)
	if err := os.Mkdir(r.dir, 0o711); err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{
		"netns", "exec", e.Cluster.Netns, filepath.Join(e.Dir, "fairway"), "controller", "--kubeconfig", kubeconfig,
		"--controller-class", controllerName, "--runtime-dir", filepath.Join(r.dir, "run"),
		"--http-port", strconv.Itoa(r.http), "--https-port", strconv.Itoa(r.http + 1), "--healthz-port", strconv.Itoa(r.own), "--profiling=false", "--enable-metrics",
		"--post-shutdown-grace-period", "0", "--access-log", "/dev/null",
	}, flags...)
	command := exec.Command("ip", arguments...)
	command.Env = append(os.Environ(), "POD_NAME="+name, "POD_NAMESPACE="+own)
	process, err := testbed.StartProcess(filepath.Join(r.dir, "log"), command)
	if err != nil {
		t.Fatal(err)
	}
	r.Process = process
	t.Cleanup(func() {
		r.stop(t)
		r.ShowLog(t, name)
		_ = os.RemoveAll(r.dir)
	})
	return r
}

// makePod makes a Pod of an image without a process. It stays until the replica has ended, as it would if the process were its own.
func (r *replica) makePod(t *testing.T) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: r.name, Labels: map[string]string{"app": own, "pod-template-hash": r.name}, Finalizers: []string{"example.test/runs"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "controller", Image: "fake"}}},
	}
	if _, err := r.e.Client.CoreV1().Pods(own).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.stillAPod = true
	eventually(t, "pod "+r.name+" is ready", func() bool {
		pod, err := r.e.Client.CoreV1().Pods(own).Get(t.Context(), r.name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning
	})
}

// leave deletes the Pod, as a rollout does before the process hears of it.
func (r *replica) leave(ctx context.Context) {
	now := int64(0)
	_ = r.e.Client.CoreV1().Pods(own).Delete(ctx, r.name, metav1.DeleteOptions{GracePeriodSeconds: &now}) // gone is as good
}

// gone lets the Pod object end.
func (r *replica) gone(ctx context.Context) {
	if r.stillAPod {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		_, _ = r.e.Client.CoreV1().Pods(own).Patch(ctx, r.name, types.MergePatchType, patch, metav1.PatchOptions{})
		r.stillAPod = false
	}
}

// stop ends the replica as a rollout does: the Pod is deleted, the process gets SIGTERM and ends by itself.
func (r *replica) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	r.leave(ctx)
	r.Signal(syscall.SIGTERM)
	select {
	case <-r.Ended():
	case <-ctx.Done():
		t.Errorf("%s does not end", r.name)
		r.kill(t)
	}
	r.gone(ctx)
}

// kill ends the replica as a failing machine does: its nginx too, and nobody says goodbye.
func (r *replica) kill(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "run", "nginx.pid"))
	if err == nil {
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			defer func() { _ = syscall.Kill(-pid, syscall.SIGKILL) }() // the whole group
		}
	}
	r.End(syscall.SIGKILL)
}

// ask asks the replica's own HTTP server.
func (r *replica) ask(path string) (int, string) {
	status, body, err := testbed.Ask(r.e.Cluster.Netns, r.own, path)
	if err != nil {
		return 0, err.Error()
	}
	return status, body
}

func (r *replica) ready() bool { return testbed.Ready(r.e.Cluster.Netns, r.own) }

// metric gives the value of a series, "" if there is none.
func (r *replica) metric(t *testing.T, series string) string {
	t.Helper()
	_, body := r.ask("/metrics")
	for line := range strings.Lines(body) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, series) {
			return value
		}
	}
	return ""
}

const leaderSeries = "nginx_ingress_controller_leader_election_status"

// leads tells whether the replica says that it is the leader.
func (r *replica) leads(t *testing.T) bool { return r.metric(t, leaderSeries) == "1" }

// leaderOf waits until one of the replicas leads, and gives it and the others.
func leaderOf(t *testing.T, replicas ...*replica) (leader *replica, others []*replica) {
	t.Helper()
	eventually(t, "a leader", func() bool {
		leader, others = nil, nil
		for _, r := range replicas {
			if r.leads(t) {
				leader = r
			} else {
				others = append(others, r)
			}
		}
		return leader != nil
	})
	if len(others) != len(replicas)-1 {
		t.Fatal("several replicas lead")
	}
	return leader, others
}
