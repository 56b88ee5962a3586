// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Cluster is a running test cluster; the fields are those of its info.json.
type Cluster struct {
	Kubeconfig, InternalKubeconfig, Netns, Bin string
	dir                                        string
}

// StartCluster builds the test cluster's programs where needed and starts one that ends with this process; flags are further ones of
// `cluster up`.
func StartCluster(root, dir string, flags ...string) (Cluster, error) {
	c := Cluster{dir: dir}
	bin := os.Getenv("BIN")
	if bin == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return c, err
		}
		bin = filepath.Join(cache, "fairway", "cluster")
	}
	build := exec.Command(filepath.Join(root, "test", "cluster", "build.sh"))
	build.Env = append(os.Environ(), "BIN="+bin)
	if out, err := build.CombinedOutput(); err != nil {
		return c, fmt.Errorf("build the cluster: %w: %s", err, out)
	}
	c.Bin = bin
	flags = append([]string{"up", "--detach", "--dir", dir, "--bin", bin, "--owner-pid", fmt.Sprint(os.Getpid())}, flags...)
	up := exec.Command(filepath.Join(bin, "cluster"), flags...)
	if out, err := up.CombinedOutput(); err != nil {
		return c, fmt.Errorf("start the cluster: %w: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "info.json"))
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(text, &c)
}

// Stop takes the cluster down; without one it does nothing.
func (c Cluster) Stop() {
	if c.Netns == "" {
		return
	}
	_ = os.RemoveAll(c.etc())
	if out, err := exec.Command(filepath.Join(c.Bin, "cluster"), "down", "--dir", c.dir).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the cluster: %v: %s\n", err, out)
	}
}

// Command runs `cluster VERB PART`.
func (c Cluster) Command(verb, part string) error {
	if out, err := exec.Command(filepath.Join(c.Bin, "cluster"), verb, part, "--dir", c.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("cluster %s %s: %w: %s", verb, part, err, out)
	}
	return nil
}

// dnsServer is the address of the cluster's DNS server, which the test control plane runs.
const dnsServer = "10.96.0.10"

// etc is the folder whose files `ip netns exec` puts over those of /etc.
func (c Cluster) etc() string { return filepath.Join("/etc/netns", c.Netns) }

// UseDNS makes the cluster's DNS server answer what runs in its network, as it is for a pod.
func (c Cluster) UseDNS() error {
	if err := os.MkdirAll(c.etc(), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.etc(), "resolv.conf"), []byte("nameserver "+dnsServer+"\noptions ndots:5\n"), 0o644)
}
