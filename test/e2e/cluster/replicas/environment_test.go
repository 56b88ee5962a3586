// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/test/testbed"
)

const (
	own            = "fairway" // namespace, ServiceAccount and label of the replicas
	className      = "fairway-test"
	controllerName = "example.test/fairway"
)

// environment is the cluster that all tests share.
type environment struct {
	dir        string // removed at the end
	cluster    testbed.Cluster
	client     kubernetes.Interface
	kubeconfig string // of the replicas
	rules      manifests
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
	e.close()
	os.Exit(code)
}

func running(t *testing.T) *environment {
	t.Helper()
	if shared == nil {
		t.Skip("needs root for network namespaces")
	}
	return shared
}

// auditPolicy logs who asked for what, without contents.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    userGroups: ["system:serviceaccounts:fairway"]
  - level: None
`

func newEnvironment() (*environment, error) {
	dir, err := os.MkdirTemp("/tmp", "fairway-r-")
	if err != nil {
		return nil, err
	}
	e := &environment{dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig")}
	if err := os.Chmod(dir, 0o711); err != nil { // nginx' workers pass through
		return e, err
	}
	root, err := testbed.RepositoryRoot()
	if err != nil {
		return e, err
	}
	policy := filepath.Join(dir, "audit.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return e, err
	}
	e.cluster, err = testbed.StartCluster(root, filepath.Join(dir, "cluster"),
		"--apiserver-args", "--audit-policy-file="+policy+" --audit-log-path="+e.auditLog()+" --audit-log-mode=blocking")
	if err != nil {
		return e, err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "fairway"), "./cmd/fairway")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return e, fmt.Errorf("build fairway: %w: %s", err, out)
	}
	config, err := clientcmd.BuildConfigFromFlags("", e.cluster.Kubeconfig)
	if err != nil {
		return e, err
	}
	config.QPS, config.Burst = 200, 400
	if e.client, err = kubernetes.NewForConfig(config); err != nil {
		return e, err
	}
	if e.rules, err = readManifests(filepath.Join(root, "deploy", "rbac.yaml")); err != nil {
		return e, err
	}
	return e, errors.Join(e.cluster.UseDNS(), e.makeObjects(context.Background()))
}

func (e *environment) auditLog() string { return filepath.Join(e.dir, "audit.log") }

// manifests are the objects of deploy/rbac.yaml.
type manifests struct {
	account            corev1.ServiceAccount
	clusterRole        rbacv1.ClusterRole
	clusterRoleBinding rbacv1.ClusterRoleBinding
	role               rbacv1.Role
	roleBinding        rbacv1.RoleBinding
}

func readManifests(path string) (m manifests, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	into := map[string]any{
		"ServiceAccount": &m.account, "ClusterRole": &m.clusterRole, "ClusterRoleBinding": &m.clusterRoleBinding, "Role": &m.role, "RoleBinding": &m.roleBinding,
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			return m, err
		}
		object := into[kind.Kind]
		if object == nil {
			return m, fmt.Errorf("%s: another %s", path, kind.Kind)
		}
		delete(into, kind.Kind)
		if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
			return m, err
		}
	}
	return m, nil
}

func (e *environment) makeObjects(ctx context.Context) error {
	made := metav1.CreateOptions{}
	class := &netv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: className}, Spec: netv1.IngressClassSpec{Controller: controllerName}}
	for _, create := range []func() error{
		func() error {
			_, err := e.client.NetworkingV1().IngressClasses().Create(ctx, class, made)
			return err
		},
		func() error {
			_, err := e.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: own}}, made)
			return err
		},
		func() error {
			_, err := e.client.CoreV1().ServiceAccounts(own).Create(ctx, &e.rules.account, made)
			return err
		},
		func() error {
			_, err := e.client.RbacV1().ClusterRoles().Create(ctx, &e.rules.clusterRole, made)
			return err
		},
		func() error {
			_, err := e.client.RbacV1().ClusterRoleBindings().Create(ctx, &e.rules.clusterRoleBinding, made)
			return err
		},
		func() error { _, err := e.client.RbacV1().Roles(own).Create(ctx, &e.rules.role, made); return err },
		func() error {
			_, err := e.client.RbacV1().RoleBindings(own).Create(ctx, &e.rules.roleBinding, made)
			return err
		},
		func() error { return e.logIn(ctx, own, e.kubeconfig) },
	} {
		if err := create(); err != nil {
			return err
		}
	}
	return nil
}

// logIn writes a kubeconfig for a ServiceAccount, with a token as pods get it.
func (e *environment) logIn(ctx context.Context, account, path string) error {
	seconds := int64(3600)
	token, err := e.client.CoreV1().ServiceAccounts(own).CreateToken(ctx, account,
		&authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	config, err := clientcmd.LoadFromFile(e.cluster.InternalKubeconfig)
	if err != nil {
		return err
	}
	config.AuthInfos = map[string]*clientcmdapi.AuthInfo{account: {Token: token.Status.Token}}
	for _, c := range config.Contexts {
		c.AuthInfo = account
	}
	return clientcmd.WriteToFile(*config, path)
}

// close stops what was started, in reverse.
func (e *environment) close() {
	if e == nil {
		return
	}
	e.cluster.Stop()
	_ = os.RemoveAll(e.dir)
}

// eventually waits until a condition holds, for a generous time.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}
