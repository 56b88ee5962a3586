// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const prefix = "nginx.ingress.kubernetes.io/"

// annotated is newIngress with annotations.
func annotated(name, host, service string, annotations map[string]string) *netv1.Ingress {
	ingress := newIngress(name, host, "/", service)
	ingress.Annotations = map[string]string{}
	for key, value := range annotations {
		ingress.Annotations[prefix+key] = value
	}
	return ingress
}

// TestExternalAuthByServiceName asks a server by the DNS name of its Service, and follows the ConfigMap of its headers.
func TestExternalAuthByServiceName(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns, "web", 1)
	e.deploy(t, ns, "auth", 1)
	e.awaitRollout(t, ns, "auth")
	e.CreateIngress(t, ns, annotated("web", "auth.example", "web", map[string]string{
		"auth-url": "http://auth." + ns + ".svc.cluster.local/?status=$arg_auth", "auth-proxy-set-headers": "extra",
	}))
	e.eventuallyStatus(t, "auth.example", "/?auth=200", 503) // the ConfigMap is missing
	maps := e.Client.CoreV1().ConfigMaps(ns)
	extra := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "extra"}, Data: map[string]string{"X-Tenant": "one"}}
	if _, err := maps.Create(t.Context(), extra, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventuallyStatus(t, "auth.example", "/?auth=200", 200)
	e.eventuallyStatus(t, "auth.example", "/?auth=401", 401)
	e.eventuallyStatus(t, "auth.example", "/?auth=403", 403)
	extra.Data = map[string]string{"X Tenant": "no header"}
	if _, err := maps.Update(t.Context(), extra, metav1.UpdateOptions{}); err == nil {
		t.Error("the API server takes a key with a blank")
	}
	extra.Data = map[string]string{"X.Tenant": "no header"}
	if _, err := maps.Update(t.Context(), extra, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventuallyStatus(t, "auth.example", "/?auth=200", 503)
	if err := maps.Delete(t.Context(), "extra", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.UpdateIngress(t, ns, "web", func(i *netv1.Ingress) { delete(i.Annotations, prefix+"auth-proxy-set-headers") })
	e.eventuallyStatus(t, "auth.example", "/?auth=200", 200)
	e.scale(t, ns, "auth", 0)
	e.eventuallyStatus(t, "auth.example", "/?auth=200", 500)
	e.scale(t, ns, "auth", 1)
	e.eventuallyStatus(t, "auth.example", "/?auth=200", 200)
}

// TestUsersOfASecret follows the Secret of a login, which only becomes wanted by the annotation.
func TestUsersOfASecret(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns, "web", 1)
	secrets := e.Client.CoreV1().Secrets(ns)
	users := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "users"}, Data: map[string][]byte{"auth": []byte("alice:{PLAIN}wonder\n")}}
	if _, err := secrets.Create(t.Context(), users, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.CreateIngress(t, ns, newIngress("web", "login.example", "/", "web"))
	e.eventuallyStatus(t, "login.example", "/", 200)
	e.UpdateIngress(t, ns, "web", func(i *netv1.Ingress) {
		i.Annotations = map[string]string{prefix + "auth-type": "basic", prefix + "auth-secret": "users"}
	})
	e.eventuallyStatus(t, "login.example", "/", 401)
	users.Data = map[string][]byte{"other": nil}
	if _, err := secrets.Update(t.Context(), users, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventuallyStatus(t, "login.example", "/", 503)
	users.Data = map[string][]byte{"auth": []byte("bob:{PLAIN}builder\n")}
	if _, err := secrets.Update(t.Context(), users, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventuallyStatus(t, "login.example", "/", 401)
	if err := secrets.Delete(t.Context(), "users", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventuallyStatus(t, "login.example", "/", 503)
}
