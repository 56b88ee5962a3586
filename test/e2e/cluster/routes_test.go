// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestIngressLifecycle(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns, "one", 2)
	e.deploy(t, ns, "two", 1)
	reloads := e.reloads(t)

	e.CreateIngress(t, ns, newIngress("web", "lifecycle.example", "/", "one"))
	e.eventuallyStatus(t, "lifecycle.example", "/", 200)

	e.UpdateIngress(t, ns, "web", func(i *netv1.Ingress) {
		i.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name = "two"
	})
	e.eventually(t, "http", "lifecycle.example", "/", "an answer of Service two", func(a answer) bool {
		return a.status == 200 && len(a.pod) > 4 && a.pod[:4] == "two-"
	})

	e.UpdateIngress(t, ns, "web", func(i *netv1.Ingress) { i.Spec.Rules[0].HTTP.Paths[0].Path = "/only" })
	e.eventuallyStatus(t, "lifecycle.example", "/", 404)
	e.eventuallyStatus(t, "lifecycle.example", "/only", 200)

	if err := e.Client.NetworkingV1().Ingresses(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventuallyStatus(t, "lifecycle.example", "/only", 404)
	if after := e.reloads(t); after != reloads {
		t.Errorf("nginx was reloaded %d times", after-reloads)
	}
}

func TestServiceComesAndGoes(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.CreateIngress(t, ns, newIngress("web", "service.example", "/", "web"))
	e.eventuallyStatus(t, "service.example", "/", 503)
	e.deploy(t, ns, "web", 1)
	e.eventuallyStatus(t, "service.example", "/", 200)
	e.setServicePort(t, ns, "web", 81) // the Ingress asks for 80
	e.eventuallyStatus(t, "service.example", "/", 503)
	e.setServicePort(t, ns, "web", 80)
	e.eventuallyStatus(t, "service.example", "/", 200)
	if err := e.Client.CoreV1().Services(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventuallyStatus(t, "service.example", "/", 503)
}

func TestScaleToZeroAndBack(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns, "web", 2)
	e.CreateIngress(t, ns, newIngress("web", "scale.example", "/", "web"))
	e.eventuallyStatus(t, "scale.example", "/", 200)
	e.scale(t, ns, "web", 0)
	e.eventuallyStatus(t, "scale.example", "/", 503)
	e.scale(t, ns, "web", 3)
	e.eventuallyStatus(t, "scale.example", "/", 200)
}

func TestSecretLifecycle(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns, "web", 1)
	ingress := newIngress("web", "secret.example", "/", "web")
	ingress.Spec.TLS = []netv1.IngressTLS{{Hosts: []string{"secret.example"}, SecretName: "web-tls"}}
	e.CreateIngress(t, ns, ingress)
	serial := func(want int64) func(answer) bool {
		return func(a answer) bool { return a.status == 200 && a.cert.SerialNumber.Int64() == want }
	}
	e.eventually(t, "https", "secret.example", "/", "the default certificate", func(a answer) bool {
		return a.status == 200 && a.cert.DNSNames[0] == "ingress.local"
	})
	e.eventuallyStatus(t, "secret.example", "/", 308)

	secrets := e.Client.CoreV1().Secrets(ns)
	if _, err := secrets.Create(t.Context(), newTLSSecret(t, "web-tls", "secret.example", 7001), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventually(t, "https", "secret.example", "/", "certificate 7001", serial(7001))
	if _, err := secrets.Update(t.Context(), newTLSSecret(t, "web-tls", "secret.example", 7002), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventually(t, "https", "secret.example", "/", "certificate 7002", serial(7002))
	if err := secrets.Delete(t.Context(), "web-tls", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventually(t, "https", "secret.example", "/", "the default certificate again", func(a answer) bool {
		return a.cert.DNSNames[0] == "ingress.local"
	})
}

func TestIngressClassComesAndGoes(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns, "web", 1)
	ingress := newIngress("web", "class.example", "/", "web")
	late := "late"
	ingress.Spec.IngressClassName = &late
	e.CreateIngress(t, ns, ingress)
	e.CreateIngress(t, ns, newIngress("marker", "class-marker.example", "/", "web"))
	e.eventuallyStatus(t, "class-marker.example", "/", 200)
	if a, err := e.get("http", "class.example", "/"); err != nil || a.status != 404 {
		t.Fatalf("an Ingress of an unknown class is served: %+v, %v", a, err)
	}
	classes := e.Client.NetworkingV1().IngressClasses()
	class := &netv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: late}, Spec: netv1.IngressClassSpec{Controller: controllerName}}
	if _, err := classes.Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventuallyStatus(t, "class.example", "/", 200)
	patch := []byte(`{"metadata":{"annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}}}`)
	if _, err := classes.Patch(t.Context(), late, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	// The class is the default now: the API server writes it into an Ingress that names none.
	unnamed := newIngress("unnamed", "class-default.example", "/", "web")
	unnamed.Spec.IngressClassName = nil
	e.await(t, "the API server knows the default class", func() bool {
		would, err := e.Client.NetworkingV1().Ingresses(ns).Create(t.Context(), unnamed.DeepCopy(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && would.Spec.IngressClassName != nil
	})
	e.CreateIngress(t, ns, unnamed)
	e.eventuallyStatus(t, "class-default.example", "/", 200)
	if err := classes.Delete(t.Context(), late, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventuallyStatus(t, "class.example", "/", 404)
}

func TestRollingUpdateLosesNoRequest(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns, "web", 3)
	e.CreateIngress(t, ns, newIngress("web", "rolling.example", "/", "web"))
	e.eventuallyStatus(t, "rolling.example", "/", 200)
	e.awaitRollout(t, ns, "web")
	before := e.pods(t, ns, "web")

	l := e.startLoad("rolling.example", "/", 4)
	deployments := e.Client.AppsV1().Deployments(ns)
	d, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "GENERATION", Value: "2"}}
	if _, err := deployments.Update(t.Context(), d, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.awaitRollout(t, ns, "web")
	l.stop(t, 200)
	for _, pod := range e.pods(t, ns, "web") {
		for _, old := range before {
			if pod == old {
				t.Errorf("pod %s was not replaced", pod)
			}
		}
	}
}
