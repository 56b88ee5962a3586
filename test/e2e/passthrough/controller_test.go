// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/freeport"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// controller is a running `fairway controller` whose objects are a file.
type controller struct {
	t                    *testing.T
	dir                  string
	http, https, healthz int
	command              *exec.Cmd
	log                  bytes.Buffer
}

// start builds and starts the program, and stops it when the test ends.
func start(t *testing.T, objects string) *controller {
	t.Helper()
	root, err := testbed.RepositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "fairway-passthrough-") // short, as unix sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "fairway"), "./cmd/fairway")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	c := &controller{t: t, dir: dir, http: freeport.Take(t), https: freeport.Take(t), healthz: freeport.Take(t)}
	if err := os.Mkdir(filepath.Join(dir, "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write(objects)
	c.command = exec.Command(filepath.Join(dir, "fairway"), "controller", "--manifests", filepath.Join(dir, "objects"), "--runtime-dir", filepath.Join(dir, "run"),
		"--http-port", strconv.Itoa(c.http), "--https-port", strconv.Itoa(c.https), "--healthz-port", strconv.Itoa(c.healthz), "--healthz-host", "127.0.0.1",
		"--profiling=false", "--watch-ingress-without-class", "--allow-local-endpoints", "--configmap", "default/settings", "--enable-ssl-passthrough")
	c.command.Stdout, c.command.Stderr = &c.log, &c.log
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.command.Process.Signal(syscall.SIGTERM)
		_ = c.command.Wait()
		if t.Failed() {
			t.Logf("log of the controller:\n%s", c.log.String())
		}
	})
	c.eventually("ready", func() bool {
		response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", c.healthz))
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return c
}

// write replaces the objects.
func (c *controller) write(objects string) {
	c.t.Helper()
	next := filepath.Join(c.dir, "next.yaml")
	if err := os.WriteFile(next, []byte(objects), 0o644); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(c.dir, "objects", "all.yaml")); err != nil {
		c.t.Fatal(err)
	}
}

func (c *controller) eventually(what string, is func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if is() {
			return
		}
	}
	c.t.Fatalf("not within 20 s: %s", what)
}
