// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// command prepares the process of a container.
func (c *container) command(ctx context.Context) (*exec.Cmd, error) {
	pod := c.w.current()
	env, err := c.environment(ctx, pod)
	if err != nil {
		return nil, err
	}
	lookup := map[string]string{}
	list := make([]string, 0, len(env))
	for _, e := range env {
		lookup[e.Name] = e.Value
		list = append(list, e.Name+"="+e.Value)
	}
	expand := func(s string) string { return expandVars(s, lookup) }
	hostname := pod.Spec.Hostname
	if hostname == "" {
		hostname = pod.Name
	}
	hosts := fmt.Sprintf("127.0.0.1\tlocalhost\n::1\tlocalhost\n%s\t%s\n", c.w.ip, hostname)
	for _, a := range pod.Spec.HostAliases {
		hosts += a.IP + "\t" + strings.Join(a.Hostnames, "\t") + "\n"
	}
	spec := processSpec{
		Netns: c.w.ns, Hostname: hostname,
		Scratch: filepath.Join(c.w.dir, "scratch-"+c.spec.Name),
		Files: map[string]string{
			"/etc/hosts":    hosts,
			"/etc/hostname": hostname + "\n",
			"/etc/resolv.conf": fmt.Sprintf("search %s.svc.cluster.local svc.cluster.local cluster.local\nnameserver %s\noptions ndots:5\n",
				pod.Namespace, dnsServiceIP),
		},
		Dir:  c.spec.WorkingDir,
		Argv: c.image.argv(c.spec, expand),
		Env:  list,
	}
	if spec.Dir == "" {
		spec.Dir = "/"
	}
	for _, m := range c.spec.VolumeMounts {
		source, err := c.w.volumeSource(m.Name)
		if err != nil {
			return nil, err
		}
		sub := m.SubPath
		if m.SubPathExpr != "" {
			sub = expand(m.SubPathExpr)
		}
		if sub != "" {
			source = filepath.Join(source, sub)
			if _, err := os.Stat(source); err != nil {
				os.MkdirAll(source, 0o755)
			}
		}
		spec.Mounts = append(spec.Mounts, mount{source, m.MountPath, m.ReadOnly})
	}
	if err := os.MkdirAll(spec.Scratch, 0o755); err != nil {
		return nil, err
	}
	b, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(c.w.dir, c.spec.Name+".json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return nil, err
	}
	return exec.Command("/proc/self/exe", "container", file), nil
}
