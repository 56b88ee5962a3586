// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	"github.com/fairway-ingress/fairway/test/testbed"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// controller is a running `fairway controller` whose objects are files.
type controller struct {
	t       *testing.T
	dir     string
	http    int // its port for HTTP
	healthz int
	command *exec.Cmd
	log     bytes.Buffer
	debug   *http.Client // over its unix socket
}

// program builds the program once for all tests.
var program = sync.OnceValues(func() (string, error) {
	root, err := testbed.RepositoryRoot()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("/tmp", "fairway-l4-program-")
	if err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "fairway")
	build := exec.Command("go", "build", "-o", binary, "./cmd/fairway")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
})

var binary string // built by program

func TestMain(m *testing.M) {
	status := m.Run()
	if binary != "" {
		_ = os.RemoveAll(filepath.Dir(binary))
	}
	os.Exit(status)
}

// start starts the program with the objects, and stops it when the test ends.
func start(t *testing.T, objects *objects) *controller {
	t.Helper()
	fairway, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "fairway-l4-") // short, as unix sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	c := &controller{t: t, dir: dir, http: freeport.Take(t), healthz: freeport.Take(t)}
	c.debug = &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, "run", "admin", "controller.sock"))
	}}}
	c.apply(objects)
	c.command = exec.Command(fairway, "controller", "--manifests", filepath.Join(dir, "objects.yaml"), "--runtime-dir", filepath.Join(dir, "run"),
		"--http-port", strconv.Itoa(c.http), "--https-port", strconv.Itoa(freeport.Take(t)), "--healthz-port", strconv.Itoa(c.healthz),
		"--healthz-host", "127.0.0.1", "--profiling=false", "--watch-ingress-without-class", "--allow-local-endpoints",
		"--configmap", "default/settings", "--tcp-services-configmap", "default/tcp", "--udp-services-configmap", "default/udp")
	c.command.Stdout, c.command.Stderr = &c.log, &c.log
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.command.Process.Signal(syscall.SIGTERM)
		if t.Failed() { // connections may be left, for which it would wait
			time.Sleep(time.Second)
			_ = c.command.Process.Signal(syscall.SIGTERM)
		}
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

// apply replaces the objects.
func (c *controller) apply(objects *objects) {
	c.t.Helper()
	next := filepath.Join(c.dir, "next.yaml")
	if err := os.WriteFile(next, []byte(objects.String()), 0o644); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(c.dir, "objects.yaml")); err != nil {
		c.t.Fatal(err)
	}
}

func (c *controller) eventually(what string, is func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	c.t.Fatalf("not within %s: %s", patience, what)
}

// get runs `fairway get` and gives what it prints.
func (c *controller) get(what string) string {
	c.t.Helper()
	out, err := exec.Command(binary, "get", what, "--runtime-dir", filepath.Join(c.dir, "run")).CombinedOutput()
	if err != nil {
		c.t.Fatalf("fairway get %s: %v: %s", what, err, out)
	}
	return string(out)
}

// listener is what the controller says of a port; nil when it has none.
func (c *controller) listener(port int) []string {
	c.t.Helper()
	response, err := c.debug.Get("http://controller/debug/fairway/listeners?output=json")
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	var list []struct {
		Port      int
		Endpoints []string
	}
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
		c.t.Fatal(err)
	}
	for _, l := range list {
		if l.Port == port {
			return l.Endpoints
		}
	}
	return nil
}

// metric gives the sample whose name and labels contain all the words; 0 when there is none.
func (c *controller) metric(words ...string) float64 {
	c.t.Helper()
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", c.healthz))
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
lines:
	for line := range strings.Lines(string(text)) {
		for _, word := range words {
			if strings.HasPrefix(line, "#") || !strings.Contains(line, word) {
				continue lines
			}
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " "):]), 64)
		if err != nil {
			c.t.Fatal(err)
		}
		return value
	}
	return 0
}
