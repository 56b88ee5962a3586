// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExpandVars(t *testing.T) {
	vars := map[string]string{"A": "1", "B": "$(A)"}
	for in, want := range map[string]string{
		"":              "",
		"plain":         "plain",
		"$(A)":          "1",
		"x$(A)y$(A)":    "x1y1",
		"$(B)":          "$(A)", // once only
		"$(UNKNOWN)":    "$(UNKNOWN)",
		"$$(A)":         "$(A)",
		"$(A":           "$(A",
		"$A 100$":       "$A 100$",
		"$(UNKNOWN)$(A": "$(UNKNOWN)$(A",
	} {
		if got := expandVars(in, vars); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestField(t *testing.T) {
	w := &worker{ip: "10.244.1.1", node: &node{ip: "172.18.0.11"}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "shop", Labels: map[string]string{"app.kubernetes.io/name": "web"}},
		Spec:       corev1.PodSpec{NodeName: "node-1"},
	}
	for path, want := range map[string]string{
		"metadata.name":      "web-1",
		"metadata.namespace": "shop",
		"spec.nodeName":      "node-1",
		"status.podIP":       "10.244.1.1",
		"status.hostIP":      "172.18.0.11",
		"metadata.labels['app.kubernetes.io/name']": "web",
		"metadata.annotations['missing']":           "",
		"metadata.labels":                           "app.kubernetes.io/name=\"web\"\n",
	} {
		if got := w.field(pod, path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
