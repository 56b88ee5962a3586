// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/test/testbed"
)

const (
	className      = "fairway-test"
	controllerName = "example.test/fairway"
)

// environment is the scene and the controller that all tests share.
type environment struct {
	*testbed.Scene
	controller *testbed.Controller
}

var shared *environment

func TestMain(m *testing.M) {
	e := &environment{}
	testbed.OnCluster(m, func() error {
		shared = e
		return e.setUp()
	}, func(failed bool) {
		if failed {
			fmt.Fprintf(os.Stderr, "controller log:\n%s\n", e.controller.Log())
		}
		e.controller.Stop()
		e.Close()
	})
}

// running gives the shared environment, or skips where there is none.
func running(t *testing.T) *environment {
	t.Helper()
	if shared == nil {
		t.Skip("needs root for network namespaces")
	}
	return shared
}

func (e *environment) setUp() error {
	dir, err := testbed.NewDir()
	if err != nil {
		return err
	}
	if e.Scene, err = testbed.NewScene(dir); err != nil {
		return err
	}
	if err := e.MakeClass(context.Background(), className, controllerName); err != nil {
		return err
	}
	e.controller = testbed.NewController(dir, e.Cluster, controllerName)
	return e.controller.Start()
}

// reloads sums the reload counter over its reasons.
func (e *environment) reloads(t *testing.T) int {
	t.Helper()
	n, err := e.controller.Reloads()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (e *environment) nginxPID(t *testing.T) int {
	t.Helper()
	pid, err := e.controller.NginxPID()
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func (e *environment) awaitRollout(t *testing.T, namespace, name string) {
	t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for time.Now().Before(deadline) {
		d, err := e.Client.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := *d.Spec.Replicas
		s := d.Status
		if s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == want && s.AvailableReplicas == want && s.Replicas == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("deployment %s/%s did not roll out", namespace, name)
}

// pods names the pods of a Deployment that are not about to leave.
func (e *environment) pods(t *testing.T, namespace, app string) []string {
	t.Helper()
	list, err := e.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			names = append(names, pod.Name)
		}
	}
	return names
}

func (e *environment) awaitAPI(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		if _, err := e.Client.Discovery().ServerVersion(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the API server did not come back")
}
