// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Ports of every Controller: the network is its own.
const (
	HTTPPort    = 8080
	HTTPSPort   = 8443
	healthzPort = 10254
)

// Controller is a `fairway controller` in the network of a cluster.
type Controller struct {
	// Flags are given to the controller besides its usual ones. They are set before Start.
	Flags []string

	cluster Cluster
	dir     string // program, runtime directory and log
	class   string
	cmd     *exec.Cmd
}

// RepositoryRoot is the folder of the main module's go.mod.
func RepositoryRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// Build builds the program into a folder, as fairway.
func Build(root, dir string) error {
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "fairway"), "./cmd/fairway")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build fairway: %w: %s", err, out)
	}
	return nil
}

// NewController builds the program into dir; Start starts it. It takes the IngressClasses of that controller.
func NewController(root, dir string, cluster Cluster, class string) (*Controller, error) {
	if err := Build(root, dir); err != nil {
		return nil, err
	}
	return &Controller{cluster: cluster, dir: dir, class: class}, nil
}

// Start starts the controller and waits until it is ready.
func (c *Controller) Start() error {
	log, err := os.OpenFile(filepath.Join(c.dir, "controller.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := c.cluster.UseDNS(); err != nil {
		return err
	}
	// `ip netns exec` becomes the controller, so its process ID is ours.
	c.cmd = exec.Command("ip", append([]string{"netns", "exec", c.cluster.Netns, filepath.Join(c.dir, "fairway"), "controller",
		"--kubeconfig", c.cluster.InternalKubeconfig, "--controller-class", c.class, "--runtime-dir", c.RuntimeDir(),
		"--http-port", strconv.Itoa(HTTPPort), "--https-port", strconv.Itoa(HTTPSPort),
		"--healthz-port", strconv.Itoa(healthzPort), "--healthz-host", "127.0.0.1", "--post-shutdown-grace-period", "0"},
		c.Flags...)...)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.Env = append(os.Environ(), "POD_NAME=fairway-0", "POD_NAMESPACE=default")
	if err := c.cmd.Start(); err != nil {
		return err
	}
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		if status, _, err := c.Ask("/readyz"); err == nil && status == http.StatusOK {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("controller is not ready after a minute:\n%s", c.Log())
}

// Ask asks the controller's own HTTP server.
func (c *Controller) Ask(path string) (int, string, error) {
	return ask(fmt.Sprintf("http://127.0.0.1:%d%s", healthzPort, path), Dialer{c.cluster.Netns}.DialContext)
}

// Reloads sums the reload counter over its reasons.
func (c *Controller) Reloads() (int, error) { return reloads(c.Ask) }

func reloads(ask func(path string) (int, string, error)) (int, error) {
	status, body, err := ask("/metrics")
	if err != nil || status != http.StatusOK {
		return 0, fmt.Errorf("metrics: status %d: %w", status, err)
	}
	sum, found := 0.0, false
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "fairway_reload_total{") {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " "):]), 64)
		if err != nil {
			return 0, err
		}
		sum, found = sum+value, true
	}
	if !found {
		return 0, errors.New("metrics have no fairway_reload_total")
	}
	return int(sum), nil
}

// RuntimeDir is the controller's runtime directory.
func (c *Controller) RuntimeDir() string { return filepath.Join(c.dir, "run") }

// PID is the controller's process.
func (c *Controller) PID() int { return c.cmd.Process.Pid }

// NginxPID waits for nginx' process ID file and gives what it says.
func (c *Controller) NginxPID() (int, error) {
	deadline := time.Now().Add(10 * time.Second)
	for {
		text, err := os.ReadFile(filepath.Join(c.RuntimeDir(), "nginx.pid"))
		if pid, perr := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && perr == nil {
			return pid, nil
		}
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("no nginx.pid: %w", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Workers gives the processes that nginx' master has started.
func (c *Controller) Workers() ([]int, error) {
	master, err := c.NginxPID()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", master))
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// Kill ends the controller as a crash would; nginx goes on.
func (c *Controller) Kill() error {
	err := c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it was killed, so this says so
	return err
}

// Stop ends the controller and its nginx; a controller that was never started is left alone.
func (c *Controller) Stop() {
	if c == nil || c.cmd == nil || c.cmd.Process == nil {
		return
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
}

// Log is the end of what the controller and nginx logged.
func (c *Controller) Log() string {
	text, _ := os.ReadFile(filepath.Join(c.dir, "controller.log"))
	const most = 20000
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return string(text)
}
