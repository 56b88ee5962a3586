// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Command cluster runs a real Kubernetes control plane (etcd, kube-apiserver,
// kube-controller-manager) and a small pod runner on one Linux machine,
// without containers and without touching the machine's own network: all of
// it lives in network namespaces that the command makes itself.
//
// The process of "up" is the supervisor (supervisor.go): it starts the control
// plane (controlplane.go) and the runner (runner.go), which plays scheduler,
// kubelet, service proxy, load balancer and cluster DNS. Everything ends with
// the supervisor, however that ends: processes by the parent-death signal and
// PID namespaces, network namespaces by the next sweep (registry.go). What
// others may rely on is in README.md. Start with up.go.
package main

import (
	"fmt"
	"os"
)

const usage = `usage: cluster <command> [flags]

  up     start a cluster and stay in the foreground (--detach: return when ready)
  down   stop the cluster of --dir and remove its network namespaces
  stop   stop a part of a running cluster: cluster stop apiserver [--dir D]
  start  start it again and wait until it is ready: cluster start apiserver [--dir D]
  exec   run a command inside the cluster's network namespace:
         cluster exec [--dir D] -- curl http://10.244.0.5:3000/
  sweep  remove what clusters left behind whose supervisor was killed ("up" does so too)

"cluster <command> -h" lists the flags. See README.md.
`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	var err error
	switch cmd, args := os.Args[1], os.Args[2:]; cmd {
	case "up":
		err = up(args)
	case "down":
		err = down(args)
	case "stop":
		err = stopPart(args)
	case "start":
		err = startPart(args)
	case "exec":
		err = execIn(args)
	case "sweep":
		err = sweep()
	// Internal: started by "up" and by the pod runner.
	case "etcd":
		err = runEtcd(args)
	case "runner":
		err = runRunner(args)
	case "container":
		err = runContainer(args)
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}
