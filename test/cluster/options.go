// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// options are the flags of "up"; the runner gets the same ones.
type options struct {
	dir, bin, netns, images string
	port, nodes, owner      int
	lb, clusterIP, keep     bool
	detach, removeDir       bool
	apiserverArgs, kcmArgs  string
}

func (o *options) register(fs *flag.FlagSet) {
	fs.StringVar(&o.dir, "dir", defaultDir, "state directory (keys, etcd data, logs, pods)")
	fs.BoolVar(&o.removeDir, "remove-dir", false, "remove --dir when the cluster ends; it must be new or empty")
	fs.StringVar(&o.bin, "bin", defaultBin(), "directory of the built programs (apiserver, kcm, echo)")
	fs.StringVar(&o.netns, "netns", "", "name of the cluster's network namespace, at most 9 characters; default: one that is free")
	fs.StringVar(&o.images, "images", "", "YAML file of image mappings that go before the built-in ones")
	fs.IntVar(&o.port, "port", 0, "port on the machine's own 127.0.0.1 that leads to the API server; 0 takes a free one")
	fs.IntVar(&o.owner, "owner-pid", 0, "stop when the process with this id ends, however it ends")
	fs.IntVar(&o.nodes, "nodes", 3, "number of nodes")
	fs.BoolVar(&o.lb, "lb", true, "give Services of type LoadBalancer an address of "+lbNet)
	fs.BoolVar(&o.clusterIP, "cluster-ip", true, "route ClusterIPs, node ports and load balancer addresses (nftables)")
	fs.BoolVar(&o.keep, "keep", false, "keep the etcd data of an earlier run")
	fs.BoolVar(&o.detach, "detach", false, "return once the cluster is ready")
	fs.StringVar(&o.apiserverArgs, "apiserver-args", "", "further kube-apiserver flags, space-separated")
	fs.StringVar(&o.kcmArgs, "kcm-args", "", "further kube-controller-manager flags, space-separated")
}

func (o *options) file(name string) string { return filepath.Join(o.dir, name) }

func (o *options) kubeconfig() string { return o.file("kubeconfig") }

const defaultDir = "/tmp/cluster"

// defaultBin is where build.sh puts programs.
func defaultBin() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "fairway", "cluster")
}

func parseOptions(name string, args []string) *options {
	o := new(options)
	fs := flag.NewFlagSet(name, flag.ExitOnError)
	o.register(fs)
	fs.Parse(args)
	o.dir, _ = filepath.Abs(o.dir)
	return o
}

// Files in the state directory that exist while a cluster runs: the identity of its supervisor, its namespace, and what others may know.
const (
	pidFile   = "up.pid"
	netnsFile = "netns"
	infoFile  = "info.json"
	readyFile = "ready"
)

// pid returns the process id of the running supervisor, or 0.
func (o *options) pid() int {
	text, _ := os.ReadFile(o.file(pidFile))
	first, _, _ := strings.Cut(string(text), " ")
	pid, _ := strconv.Atoi(first)
	if pid == 0 || identity(pid) != string(text) {
		return 0
	}
	return pid
}

// access is what info.json tells programs that use the cluster.
type access struct {
	Kubeconfig         string `json:"kubeconfig"`         // works on the machine's own network
	InternalKubeconfig string `json:"internalKubeconfig"` // works inside the cluster's network namespace
	Netns              string `json:"netns"`              // its name, below /run/netns
	Bin                string `json:"bin"`                // directory of the built programs
}

func (o *options) writeAccess() error {
	text, err := json.MarshalIndent(access{o.kubeconfig(), o.file("internal.kubeconfig"), o.netns, o.bin}, "", "  ")
	if err != nil {
		return fmt.Errorf("describe the cluster: %w", err)
	}
	return os.WriteFile(o.file(infoFile), text, 0o644)
}
