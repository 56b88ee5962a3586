// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// limited makes an account that has all rights but those to Secrets, which it has in one namespace alone.
func (e *environment) limited(t *testing.T, account, namespace string) (kubeconfig string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: account}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account, Namespace: own}}
	role := func(kind, name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	}
	general := &rbacv1.ClusterRole{ObjectMeta: meta}
	for _, rule := range e.rules.clusterRole.Rules {
		rule.Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(r string) bool { return r == "secrets" })
		general.Rules = append(general.Rules, rule)
	}
	secrets := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch"}}}}
	ctx, made := t.Context(), metav1.CreateOptions{}
	_, err := e.Client.CoreV1().ServiceAccounts(own).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, made)
	check(t, err)
	_, err = e.Client.RbacV1().ClusterRoles().Create(ctx, general, made)
	check(t, err)
	_, err = e.Client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: role("ClusterRole", account)}, made)
	check(t, err)
	_, err = e.Client.RbacV1().RoleBindings(own).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: role("Role", own)}, made)
	check(t, err)
	_, err = e.Client.RbacV1().Roles(namespace).Create(ctx, secrets, made)
	check(t, err)
	_, err = e.Client.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: role("Role", account)}, made)
	check(t, err)
	kubeconfig = filepath.Join(e.Dir, account+".kubeconfig")
	check(t, e.logIn(ctx, account, kubeconfig))
	return kubeconfig
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A replica that may read the Secrets of one namespace alone works there, and asks for no others.
func TestSecretsOfOneNamespace(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns)
	kubeconfig := e.limited(t, "limited", ns)
	login := func(name string) *netv1.Ingress {
		i := newIngress(name, name+".limited.example")
		i.Annotations = map[string]string{"nginx.ingress.kubernetes.io/auth-type": "basic", "nginx.ingress.kubernetes.io/auth-secret": "users"}
		return i
	}
	elsewhere := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns + "-other"}}
	_, err := e.Client.CoreV1().Namespaces().Create(t.Context(), elsewhere, metav1.CreateOptions{})
	check(t, err)
	for _, namespace := range []string{ns, elsewhere.Name} {
		users := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "users"}, Data: map[string][]byte{"auth": []byte("ada:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n")}}
		_, err := e.Client.CoreV1().Secrets(namespace).Create(t.Context(), users, metav1.CreateOptions{})
		check(t, err)
		e.CreateIngress(t, namespace, login(namespace))
	}
	r := e.startAs(t, kubeconfig, "limited", "--watch-secrets-in", ns, "--publish-status-address", "192.0.2.80")
	eventually(t, "ready", r.ready)
	eventually(t, "endpoints", func() bool { return !strings.Contains(r.metric(t, `fairway_endpoints`), "0") })
	client := &http.Client{Transport: &http.Transport{DialContext: r.dial, DisableKeepAlives: true}}
	for namespace, want := range map[string]int{ns: http.StatusUnauthorized, elsewhere.Name: http.StatusServiceUnavailable} {
		response, err := client.Get("http://" + namespace + ".limited.example/")
		check(t, err)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("the login of %s: status %d, want %d", namespace, response.StatusCode, want)
		}
	}
	eventually(t, "an Event that tells why", func() bool {
		return strings.Contains(e.events(t, elsewhere.Name, elsewhere.Name)["MissingSecret"], "only Secrets of --watch-secrets-in="+ns+" are looked at")
	})
	for _, c := range e.calls(t, "limited") {
		if c.forbidden() {
			t.Errorf("forbidden: %s %s", c.Verb, c.RequestURI)
		}
	}
}
