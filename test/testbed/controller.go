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
	process *Process // nil before Start
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

// NewController gives one that Start starts: the program in dir, beside which it works. It takes the IngressClasses of that controller.
func NewController(dir string, cluster Cluster, class string) *Controller {
	return &Controller{cluster: cluster, dir: dir, class: class}
}

// Start starts the controller and waits until it is ready.
func (c *Controller) Start() error {
	if err := c.cluster.UseDNS(); err != nil {
		return err
	}
	// `ip netns exec` becomes the controller, so its process ID is ours.
	command := exec.Command("ip", append([]string{"netns", "exec", c.cluster.Netns, filepath.Join(c.dir, "fairway"), "controller",
		"--kubeconfig", c.cluster.InternalKubeconfig, "--controller-class", c.class, "--runtime-dir", c.RuntimeDir(),
		"--http-port", strconv.Itoa(HTTPPort), "--https-port", strconv.Itoa(HTTPSPort),
		"--healthz-port", strconv.Itoa(healthzPort), "--healthz-host", "127.0.0.1", "--post-shutdown-grace-period", "0"},
		c.Flags...)...)
	command.Env = append(os.Environ(), "POD_NAME=fairway-0", "POD_NAMESPACE=default")
	process, err := StartProcess(filepath.Join(c.dir, "controller.log"), command)
	if err != nil {
		return err
	}
	c.process = process
	for deadline := time.Now().Add(patience); !Ready(c.cluster.Netns, healthzPort); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("controller is not ready after %s:\n%s", patience, c.Log())
		}
	}
	return nil
}

// Ask asks the controller's own HTTP server.
func (c *Controller) Ask(path string) (int, string, error) {
	return Ask(c.cluster.Netns, healthzPort, path)
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
func (c *Controller) PID() int { return c.process.PID() }

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
func (c *Controller) Kill() { c.process.End(syscall.SIGKILL) }

// Stop ends the controller and its nginx; a controller that was never started is left alone.
func (c *Controller) Stop() {
	if c != nil && c.process != nil {
		c.process.End(syscall.SIGTERM)
	}
}

// Log is the end of what the controller and nginx logged.
func (c *Controller) Log() string {
	if c == nil || c.process == nil {
		return ""
	}
	return c.process.Log()
}
