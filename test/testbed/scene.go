// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Scene is a cluster, a client of it, and a folder with the program beside it.
type Scene struct {
	Root, Dir string // of the repository; of the scene, which is removed at the end
	Cluster   Cluster
	Client    kubernetes.Interface
}

// NewDir makes a folder with a short name, for the paths of sockets, through which nginx' workers may pass.
func NewDir() (string, error) {
	dir, err := os.MkdirTemp("/tmp", "fairway-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// Dir is NewDir for a test, at whose end the folder is removed.
func Dir(t *testing.T) string {
	t.Helper()
	dir, err := NewDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// NewScene starts a cluster with further flags of `cluster up` and builds the program, in a folder of NewDir. The scene is never nil, and is to
// be closed also after an error.
func NewScene(dir string, flags ...string) (s *Scene, err error) {
	s = &Scene{Dir: dir}
	if s.Root, err = RepositoryRoot(); err != nil {
		return s, err
	}
	if s.Cluster, err = StartCluster(s.Root, filepath.Join(dir, "cluster"), flags...); err != nil {
		return s, err
	}
	if err := Build(s.Root, dir); err != nil {
		return s, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.Cluster.Kubeconfig)
	if err != nil {
		return s, err
	}
	config.QPS = -1 // tests and benchmarks wait for the server alone
	s.Client, err = kubernetes.NewForConfig(config)
	return s, err
}

// MakeClass creates an IngressClass of a controller.
func (s *Scene) MakeClass(ctx context.Context, name, controller string) error {
	class := &netv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: netv1.IngressClassSpec{Controller: controller}}
	_, err := s.Client.NetworkingV1().IngressClasses().Create(ctx, class, metav1.CreateOptions{})
	return err
}

// Close stops the cluster and removes the folder. Without a scene it does nothing.
func (s *Scene) Close() {
	if s == nil {
		return
	}
	s.Cluster.Stop()
	_ = os.RemoveAll(s.Dir)
}

// OnCluster runs the tests of a package whose scene is set by start and closed by end, which hears whether a test failed. Without root there
// is no scene, and the tests skip themselves.
func OnCluster(m *testing.M, start func() error, end func(failed bool)) {
	if os.Getuid() != 0 {
		fmt.Println("the tests on a real control plane need root (network namespaces); all are skipped")
		os.Exit(m.Run())
	}
	status := 1
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = m.Run()
	}
	end(status != 0)
	os.Exit(status)
}
