// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// clusterHandle is a running test cluster; the fields are those of its info.json.
type clusterHandle struct {
	Kubeconfig, InternalKubeconfig, Netns, Bin string
	dir                                        string
}

// startCluster builds the test cluster's programs where needed and starts one that ends with this process.
func startCluster(root, dir string) (clusterHandle, error) {
	h := clusterHandle{dir: dir}
	bin := os.Getenv("BIN")
	if bin == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return h, err
		}
		bin = filepath.Join(cache, "fairway", "cluster")
	}
	build := exec.Command(filepath.Join(root, "test", "cluster", "build.sh"))
	build.Env = append(os.Environ(), "BIN="+bin)
	if out, err := build.CombinedOutput(); err != nil {
		return h, fmt.Errorf("build the cluster: %w: %s", err, out)
	}
	h.Bin = bin
	up := exec.Command(filepath.Join(bin, "cluster"), "up", "--detach", "--dir", dir, "--bin", bin, "--owner-pid", fmt.Sprint(os.Getpid()))
	if out, err := up.CombinedOutput(); err != nil {
		return h, fmt.Errorf("start the cluster: %w: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "info.json"))
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(text, &h)
}

// stop takes the cluster down; without one it does nothing.
func (h clusterHandle) stop() {
	if h.Netns == "" {
		return
	}
	if out, err := exec.Command(filepath.Join(h.Bin, "cluster"), "down", "--dir", h.dir).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the cluster: %v: %s\n", err, out)
	}
}

// clusterCommand runs `cluster VERB PART`.
func (e *environment) clusterCommand(t *testing.T, verb, part string) {
	t.Helper()
	if out, err := exec.Command(filepath.Join(e.cluster.Bin, "cluster"), verb, part, "--dir", e.cluster.dir).CombinedOutput(); err != nil {
		t.Fatalf("cluster %s %s: %v: %s", verb, part, err, out)
	}
}
