// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// machine is a running cluster of a test.
type machine struct {
	t   *testing.T
	dir string
	access
	spaces map[string]bool // identities of all network namespaces that were seen
}

// build brings the programs up to date, once. It does not build a control plane that was never built: that takes minutes.
var build = sync.OnceValue(func() error { return run(exec.Command("./build.sh")) })

// programs gives the folder of built programs, or skips the test.
func programs(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root for network namespaces")
	}
	for _, tool := range []string{"ip", "nsenter", "nft", "kubectl", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	bin := os.Getenv("BIN")
	if bin == "" {
		bin = defaultBin()
	}
	if _, err := os.Stat(filepath.Join(bin, "apiserver")); err != nil {
		t.Skipf("the control plane is not built: run test/cluster/build.sh: %v", err)
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return bin
}

// start runs `cluster up` until the test ends.
func start(t *testing.T, flags ...string) *machine {
	t.Helper()
	bin := programs(t)
	m := &machine{t: t, dir: filepath.Join(t.TempDir(), "cluster"), spaces: map[string]bool{}}
	m.Bin = bin
	args := append([]string{"up", "--detach", "--dir", m.dir, "--bin", bin}, flags...)
	out, err := exec.Command(filepath.Join(bin, "cluster"), args...).CombinedOutput()
	t.Cleanup(func() {
		m.look()
		m.cluster("down", "--dir", m.dir)
		m.mustBeGone()
	})
	if err != nil {
		t.Fatalf("up: %v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(m.dir, infoFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m.access); err != nil {
		t.Fatal(err)
	}
	return m
}

// cluster runs the command.
func (m *machine) cluster(args ...string) {
	m.t.Helper()
	if out, err := exec.Command(filepath.Join(m.Bin, "cluster"), args...).CombinedOutput(); err != nil {
		m.t.Errorf("cluster %s: %v: %s", strings.Join(args, " "), err, out)
	}
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

// words gives the sorted words of kubectl's output.
func (m *machine) words(args ...string) []string {
	m.t.Helper()
	list := strings.Fields(m.kubectl(args...))
	slices.Sort(list)
	return list
}

// curl runs curl in the cluster's network.
func (m *machine) curl(args ...string) (string, error) {
	args = append([]string{"exec", "--dir", m.dir, "--", "curl", "-s", "-f", "-m", "5"}, args...)
	out, err := exec.Command(filepath.Join(m.Bin, "cluster"), args...).Output()
	return string(out), err
}

// get asks an address inside the cluster and gives the name of the pod that answers.
func (m *machine) get(address string) string {
	m.t.Helper()
	out, err := m.curl("http://" + address + "/")
	if err != nil {
		m.t.Fatalf("get %s: %v", address, err)
	}
	var echo struct{ Pod string }
	if err := json.Unmarshal([]byte(out), &echo); err != nil {
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

func (m *machine) supervisor() int { return (&options{dir: m.dir}).pid() }

// look remembers the network namespaces that there are, so that processes in them are found when their names are gone.
func (m *machine) look() {
	if m.Netns == "" {
		return
	}
	names, _ := filepath.Glob(nsPath(m.Netns + "*"))
	for _, name := range names {
		out, _ := exec.Command("nsenter", "--net="+name, "readlink", "/proc/self/ns/net").Output()
		m.spaces[strings.TrimSpace(string(out))] = true
	}
}

// processes lists those of the cluster: with its directory in the command line, or in one of its network namespaces.
func (m *machine) processes() (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		text, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil {
			continue
		}
		space, _ := os.Readlink(filepath.Join(p, "ns/net"))
		if m.spaces[space] || strings.Contains(string(text), m.dir) {
			found = append(found, filepath.Base(p)+": "+strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

// mustBeGone demands that no process, namespace, mount or registration of the cluster is left.
func (m *machine) mustBeGone() {
	m.t.Helper()
	var left []string
	if waitFor(20*time.Second, func() bool {
		left = m.processes()
		if m.Netns != "" {
			for _, pattern := range []string{nsPath(m.Netns + "*"), filepath.Join(registryDir, m.Netns)} {
				files, _ := filepath.Glob(pattern)
				left = append(left, files...)
			}
		}
		if mounts, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(mounts), m.dir) {
			left = append(left, "a mount in "+m.dir)
		}
		return len(left) == 0
	}) != nil {
		m.t.Errorf("left behind: %s", strings.Join(left, ", "))
	}
}

// killHard sends SIGKILL and does not wait.
func (m *machine) killHard(pid int) {
	m.t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		m.t.Fatal(err)
	}
}
