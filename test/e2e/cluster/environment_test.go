// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fairway-ingress/fairway/test/testbed"
)

const (
	className      = "fairway-test"
	controllerName = "example.test/fairway"
)

// environment is the cluster and the controller that all tests share.
type environment struct {
	dir        string // of cluster and controller; removed at the end
	cluster    testbed.Cluster
	controller *testbed.Controller
	client     kubernetes.Interface
}

var shared *environment

func TestMain(m *testing.M) {
	if os.Getuid() != 0 {
		fmt.Println("the tests on a real control plane need root (network namespaces); all are skipped")
		os.Exit(m.Run())
	}
	e, err := newEnvironment()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		e.close()
		os.Exit(1)
	}
	shared = e
	code := m.Run()
	if code != 0 {
		fmt.Fprintf(os.Stderr, "controller log:\n%s\n", e.controller.Log())
	}
	e.close()
	os.Exit(code)
}

// running gives the shared environment, or skips where there is none.
func running(t *testing.T) *environment {
	t.Helper()
	if shared == nil {
		t.Skip("needs root for network namespaces")
	}
	return shared
}

func newEnvironment() (*environment, error) {
	dir, err := os.MkdirTemp("/tmp", "fairway-e2e-")
	if err != nil {
		return nil, err
	}
	e := &environment{dir: dir}
	if err := os.Chmod(dir, 0o711); err != nil { // nginx' workers pass through
		return e, err
	}
	root, err := testbed.RepositoryRoot()
	if err != nil {
		return e, err
	}
	if e.cluster, err = testbed.StartCluster(root, filepath.Join(dir, "cluster")); err != nil {
		return e, err
	}
	if e.controller, err = testbed.NewController(root, dir, e.cluster, controllerName); err != nil {
		return e, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", e.cluster.Kubeconfig)
	if err != nil {
		return e, err
	}
	config.QPS, config.Burst = 200, 400
	if e.client, err = kubernetes.NewForConfig(config); err != nil {
		return e, err
	}
	class := &netv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: className}, Spec: netv1.IngressClassSpec{Controller: controllerName}}
	if _, err := e.client.NetworkingV1().IngressClasses().Create(context.Background(), class, metav1.CreateOptions{}); err != nil {
		return e, err
	}
	return e, e.controller.Start()
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
		d, err := e.client.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
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
	list, err := e.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
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
		if _, err := e.client.Discovery().ServerVersion(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the API server did not come back")
}

// close stops what was started, in reverse.
func (e *environment) close() {
	if e == nil {
		return
	}
	e.controller.Stop()
	e.cluster.Stop()
	_ = os.RemoveAll(e.dir)
}
