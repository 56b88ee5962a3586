// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Address plan. Every one of these ranges exists only inside the cluster's
// network namespaces; nothing is routed out of them.
const (
	podNet       = "10.244.0.0/16"
	podGateway   = "10.244.0.1" // source address of traffic from the cluster namespace to pods
	serviceNet   = "10.96.0.0/16"
	apiServiceIP = "10.96.0.1"
	dnsServiceIP = "10.96.0.10"
	masterIP     = "172.18.0.1" // kube-apiserver's address for pods
	lbNet        = "172.20.0.0/16"
	linkGateway  = "169.254.1.1" // next hop of every pod and node namespace
)

func nsPath(name string) string { return "/run/netns/" + name }

// nsCommand runs name inside a network namespace (nsenter execs, so the child's
// process id is the command's).
func nsCommand(ns, name string, args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--net=" + nsPath(ns), "--", name}, args...)...)
}

func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// ipBatch runs a list of ip(8) commands in one process.
func ipBatch(ns string, lines ...string) error {
	args := []string{"-batch", "-"}
	if ns != "" {
		args = append([]string{"-n", ns}, args...)
	}
	cmd := exec.Command("ip", args...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	return run(cmd)
}

// inNetns calls fn on a thread of the namespace; sockets that fn opens stay
// there. The thread is thrown away afterwards.
func inNetns(ns string, fn func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		done <- func() error {
			f, err := os.Open(nsPath(ns))
			if err != nil {
				return err
			}
			defer f.Close()
			if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
				return err
			}
			return fn()
		}()
	}()
	return <-done
}

// makeClusterNetns creates the namespace of the control plane. All addresses
// of lbNet and serviceNet are local there, so a process in it can bind any of
// them without further set-up.
func makeClusterNetns(ns string) error {
	if err := run(exec.Command("ip", "netns", "add", ns)); err != nil {
		return err
	}
	if err := ipBatch(ns,
		"link set lo up",
		"addr add "+masterIP+"/32 dev lo",
		"addr add "+podGateway+"/32 dev lo",
		"addr add "+linkGateway+"/32 dev lo",
		"route add local "+serviceNet+" dev lo src "+podGateway,
		"route add local "+lbNet+" dev lo src "+podGateway,
		// Unused pod addresses fail at once instead of hanging.
		"route add unreachable "+podNet,
	); err != nil {
		return err
	}
	return run(nsCommand(ns, "sh", "-c", `
cd /proc/sys/net/ipv4
echo 1 >ip_forward; echo 0 >conf/all/rp_filter; echo 0 >conf/default/rp_filter
echo 0 >conf/all/send_redirects; echo 0 >conf/default/send_redirects
echo '15000 65000' >ip_local_port_range`))
}

// makeLeafNetns creates the namespace of one pod or node and connects it to
// the cluster namespace by a veth pair and a host route.
func makeLeafNetns(cluster, ns, link, ip string) error {
	if err := ipBatch("", "netns add "+ns); err != nil {
		return err
	}
	if err := ipBatch(cluster,
		"link add "+link+" type veth peer name eth0 netns "+ns,
		"link set "+link+" up",
		"route add "+ip+"/32 dev "+link+" src "+podGateway,
	); err != nil {
		return err
	}
	return ipBatch(ns,
		"link set lo up",
		"addr add "+ip+"/32 dev eth0",
		"link set eth0 up",
		"route add "+linkGateway+"/32 dev eth0 scope link",
		"route add default via "+linkGateway+" dev eth0",
	)
}

func removeNetns(ns string) { exec.Command("ip", "netns", "del", ns).Run() }

// removeClusterNetns removes the cluster namespace and all its leaves.
func removeClusterNetns(ns string) {
	leaves, _ := filepath.Glob(nsPath(ns + "-*"))
	for _, l := range leaves {
		removeNetns(filepath.Base(l))
	}
	removeNetns(ns)
}
