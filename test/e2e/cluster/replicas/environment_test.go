// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// environment is the scene that all tests share.
type environment struct {
	*testbed.Scene
	kubeconfig string // of the replicas
	rules      manifests
}

var shared *environment

func TestMain(m *testing.M) {
	e := &environment{}
	testbed.OnCluster(m, func() error {
		shared = e
		return e.setUp()
	}, func(bool) { e.Close() })
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

func (e *environment) setUp() error {
	dir, err := testbed.NewDir()
	if err != nil {
		return err
	}
	e.kubeconfig = filepath.Join(dir, "kubeconfig")
	policy := filepath.Join(dir, "audit.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	e.Scene, err = testbed.NewScene(dir, "--apiserver-args",
		"--audit-policy-file="+policy+" --audit-log-path="+filepath.Join(dir, auditLog)+" --audit-log-mode=blocking")
	if err != nil {
		return err
	}
	if e.rules, err = readManifests(filepath.Join(e.Root, "deploy", "rbac.yaml")); err != nil {
		return err
	}
	ctx := context.Background()
	return errors.Join(e.Cluster.UseDNS(), e.MakeClass(ctx, className, controllerName), e.makeObjects(ctx))
}

// auditLog is a file of the scene's folder.
const auditLog = "audit.log"

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
	for _, create := range []func() error{
		func() error {
			_, err := e.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: own}}, made)
			return err
		},
		func() error {
			_, err := e.Client.CoreV1().ServiceAccounts(own).Create(ctx, &e.rules.account, made)
			return err
		},
		func() error {
			_, err := e.Client.RbacV1().ClusterRoles().Create(ctx, &e.rules.clusterRole, made)
			return err
		},
		func() error {
			_, err := e.Client.RbacV1().ClusterRoleBindings().Create(ctx, &e.rules.clusterRoleBinding, made)
			return err
		},
		func() error { _, err := e.Client.RbacV1().Roles(own).Create(ctx, &e.rules.role, made); return err },
		func() error {
			_, err := e.Client.RbacV1().RoleBindings(own).Create(ctx, &e.rules.roleBinding, made)
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
	token, err := e.Client.CoreV1().ServiceAccounts(own).CreateToken(ctx, account,
		&authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	config, err := clientcmd.LoadFromFile(e.Cluster.InternalKubeconfig)
	if err != nil {
		return err
	}
	config.AuthInfos = map[string]*clientcmdapi.AuthInfo{account: {Token: token.Status.Token}}
	for _, c := range config.Contexts {
		c.AuthInfo = account
	}
	return clientcmd.WriteToFile(*config, path)
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
