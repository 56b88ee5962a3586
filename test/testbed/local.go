// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/freeport"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// Local is a `fairway controller` on this machine whose objects are in a folder. Its nginx and its own server are on the loopback.
type Local struct {
	HTTPPort, HTTPSPort, HealthzPort int
	// T is the test that fails with the controller: the one that started it, or a part of that.
	T *testing.T

	program string
	dir     string
	process *Process
}

// Main runs the tests of a package that uses StartLocal, and removes the program that was built for them.
func Main(m *testing.M) {
	status := m.Run()
	_ = os.RemoveAll(built.dir)
	os.Exit(status)
}

// built is the folder of a program that is built once for all tests.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func build() {
	root, err := RepositoryRoot()
	if err == nil {
		built.dir, err = os.MkdirTemp("/tmp", "fairway-program-")
	}
	if err == nil {
		err = Build(root, built.dir)
	}
	built.err = err
}

// StartLocal starts a controller with the objects and further flags, waits until it is ready, and stops it when the test ends. Objects have
// no need of a class, and the settings are the ConfigMap default/settings.
func StartLocal(t *testing.T, objects string, flags ...string) *Local {
	t.Helper()
	if built.once.Do(build); built.err != nil {
		t.Fatal(built.err)
	}
	dir := Dir(t)
	c := &Local{
		T: t, program: filepath.Join(built.dir, "fairway"), dir: dir,
		HTTPPort: freeport.Take(t), HTTPSPort: freeport.Take(t), HealthzPort: freeport.Take(t),
	}
	if err := os.Mkdir(c.manifests(), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Write(objects)
	var err error
	c.process, err = StartProcess(filepath.Join(dir, "log"), exec.Command(c.program, append([]string{"controller",
		"--manifests", c.manifests(), "--runtime-dir", c.runtimeDir(),
		"--http-port", strconv.Itoa(c.HTTPPort), "--https-port", strconv.Itoa(c.HTTPSPort), "--healthz-port", strconv.Itoa(c.HealthzPort),
		"--healthz-host", "127.0.0.1", "--profiling=false", "--watch-ingress-without-class", "--allow-local-endpoints", "--configmap", "default/settings"},
		flags...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	c.Eventually("ready", func() bool { return Ready("", c.HealthzPort) })
	return c
}

func (c *Local) manifests() string  { return filepath.Join(c.dir, "objects") }
func (c *Local) runtimeDir() string { return filepath.Join(c.dir, "run") }

func (c *Local) stop() {
	c.process.Signal(syscall.SIGTERM)
	if c.T.Failed() { // connections may be left, for which it would wait
		time.Sleep(time.Second)
		c.process.Signal(syscall.SIGTERM)
	}
	<-c.process.Ended()
	c.process.ShowLog(c.T, "the controller")
}

// Write replaces the objects.
func (c *Local) Write(objects string) {
	c.T.Helper()
	next := filepath.Join(c.dir, "next")
	if err := os.WriteFile(next, []byte(objects), 0o644); err != nil {
		c.T.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(c.manifests(), "all.yaml")); err != nil {
		c.T.Fatal(err)
	}
}

// Ask asks the controller's own HTTP server.
func (c *Local) Ask(path string) (status int, body string, err error) {
	return Ask("", c.HealthzPort, path)
}

// Debug asks the controller over its unix socket, as `fairway get` does.
func (c *Local) Debug(path string) string {
	c.T.Helper()
	status, body, err := dialing(func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(c.runtimeDir(), "admin", "controller.sock"))
	}).get("http://controller" + path)
	if err != nil || status != http.StatusOK {
		c.T.Fatalf("%s: %d: %v", path, status, err)
	}
	return body
}

// Get runs `fairway get` and gives what it prints.
func (c *Local) Get(what string) string {
	c.T.Helper()
	out, err := exec.Command(c.program, "get", what, "--runtime-dir", c.runtimeDir()).CombinedOutput()
	if err != nil {
		c.T.Fatalf("fairway get %s: %v: %s", what, err, out)
	}
	return string(out)
}

// Metric gives the sample whose line contains all the words; 0 when there is none.
func (c *Local) Metric(words ...string) float64 {
	c.T.Helper()
	_, body, err := c.Ask("/metrics")
	if err != nil {
		c.T.Fatal(err)
	}
lines:
	for line := range strings.Lines(body) {
		for _, word := range words {
			if strings.HasPrefix(line, "#") || !strings.Contains(line, word) {
				continue lines
			}
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " "):]), 64)
		if err != nil {
			c.T.Fatal(err)
		}
		return value
	}
	return 0
}

// Reloads sums the reload counter over its reasons.
func (c *Local) Reloads() int {
	c.T.Helper()
	n, err := reloads(c.Ask)
	if err != nil {
		c.T.Fatal(err)
	}
	return n
}

// Eventually waits until something holds, and fails the test after a generous time.
func (c *Local) Eventually(what string, holds func() bool) {
	c.T.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.T.Fatalf("not within %s: %s", patience, what)
		}
	}
}
