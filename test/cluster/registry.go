// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// registryDir notes which namespaces belong to which supervisor, so that what a killed one left behind can be told from what is in use.
const registryDir = "/run/fairway-test-clusters"

func register(netns string) error {
	if err := os.MkdirAll(registryDir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(registryDir, netns), []byte(identity(os.Getpid())), 0o600)
}

func unregister(netns string) { os.Remove(filepath.Join(registryDir, netns)) }

// identity is a process id and its start time, which a later process with the same id does not have; "" when there is none.
func identity(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return strconv.Itoa(pid) + " " + fields[19]
}

// sweep removes the namespaces of supervisors that are gone. Their processes died with them.
func sweep() error {
	entries, err := os.ReadDir(registryDir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(registryDir, e.Name()))
		if err != nil {
			continue // swept by another
		}
		first, _, _ := strings.Cut(string(text), " ")
		pid, _ := strconv.Atoi(first)
		if identity(pid) == string(text) {
			continue
		}
		removeClusterNetns(e.Name())
		unregister(e.Name())
	}
	return nil
}

// freeNetns is a name that no other cluster has.
func freeNetns() string {
	var random [3]byte
	for {
		_, _ = rand.Read(random[:]) // never fails
		name := "fw" + hex.EncodeToString(random[:])
		if _, err := os.Stat(nsPath(name)); os.IsNotExist(err) {
			return name
		}
	}
}

// watchOwner gives a channel that is closed when a process ends; with 0 never.
func watchOwner(pid int) <-chan struct{} {
	ended := make(chan struct{})
	if pid == 0 {
		return ended
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		close(ended) // gone already
		return ended
	}
	go func() {
		defer close(ended)
		for {
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); err != unix.EINTR {
				return
			}
		}
	}()
	return ended
}

// info is what info.json tells programs that use the cluster.
type info struct {
	Kubeconfig         string `json:"kubeconfig"`         // works on the machine's own network
	InternalKubeconfig string `json:"internalKubeconfig"` // works inside the cluster's network namespace
	Netns              string `json:"netns"`              // its name, below /run/netns
	Bin                string `json:"bin"`
}

func (o *options) writeInfo() error {
	text, err := json.MarshalIndent(info{o.kubeconfig(), o.file("internal.kubeconfig"), o.netns, o.bin}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.file("info.json"), text, 0o644)
}
