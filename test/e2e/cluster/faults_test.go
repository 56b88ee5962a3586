// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"syscall"
	"testing"
	"time"
)

// served gives a test a host that answers, and a namespace.
func served(t *testing.T, host string) (e *environment, namespace string) {
	t.Helper()
	e = running(t)
	namespace = e.Namespace(t)
	e.deploy(t, namespace, "web", 2)
	e.CreateIngress(t, namespace, newIngress("web", host, "/", "web"))
	e.eventuallyStatus(t, host, "/", 200)
	return e, namespace
}

func TestWorkerKilled(t *testing.T) {
	e, ns := served(t, "worker.example")
	master := e.nginxPID(t)
	killed := 0
	workers, err := e.controller.Workers()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range workers {
		if err := syscall.Kill(pid, syscall.SIGKILL); err == nil {
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("no worker found")
	}
	e.eventuallyStatus(t, "worker.example", "/", 200)
	e.CreateIngress(t, ns, newIngress("later", "worker-later.example", "/", "web"))
	e.eventuallyStatus(t, "worker-later.example", "/", 200)
	if now := e.nginxPID(t); now != master {
		t.Errorf("the master changed from %d to %d", master, now)
	}
}

func TestMasterKilled(t *testing.T) {
	e, ns := served(t, "master.example")
	master := e.nginxPID(t)
	if err := syscall.Kill(master, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for e.nginxPID(t) == master {
		if time.Now().After(deadline) {
			t.Fatal("nginx was not started again")
		}
		time.Sleep(10 * time.Millisecond)
	}
	e.eventuallyStatus(t, "master.example", "/", 200)
	e.CreateIngress(t, ns, newIngress("later", "master-later.example", "/", "web"))
	e.eventuallyStatus(t, "master-later.example", "/", 200)
}

func TestControllerKilled(t *testing.T) {
	e, ns := served(t, "controller.example")
	master := e.nginxPID(t)
	l := e.startLoad("controller.example", "/", 2)
	e.controller.Kill()
	time.Sleep(time.Second) // traffic flows without a controller
	if err := e.controller.Start(); err != nil {
		t.Fatal(err)
	}
	l.stop(t, 100)
	e.CreateIngress(t, ns, newIngress("later", "controller-later.example", "/", "web"))
	e.eventuallyStatus(t, "controller-later.example", "/", 200)
	if now := e.nginxPID(t); now != master {
		t.Errorf("nginx %d was replaced by %d instead of adopted", master, now)
	}
}
