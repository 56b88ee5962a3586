// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/source"
)

func TestMustExist(t *testing.T) {
	namespace, service := &corev1.Namespace{}, &corev1.Service{}
	namespace.Name, service.Namespace, service.Name = "shop", "shop", "errors"
	client := fake.NewSimpleClientset(namespace, service)
	log := slog.New(slog.DiscardHandler)
	none := source.Key{}
	for _, c := range []struct {
		title     string
		options   ingress.Options
		published source.Key
		want      string
	}{
		{"nothing is named", ingress.Options{}, none, ""},
		{"both are there", ingress.Options{WatchNamespace: "shop", DefaultBackend: source.Key{Namespace: "shop", Name: "errors"}}, none, ""},
		{"no published Service", ingress.Options{}, source.Key{Namespace: "shop", Name: "edge"}, "--publish-service names the Service shop/edge, which does not exist"},
		{"no namespace", ingress.Options{WatchNamespace: "show"}, none, "--watch-namespace names the namespace show, which does not exist"},
		{"no Service", ingress.Options{DefaultBackend: source.Key{Namespace: "shop", Name: "error"}}, none, "--default-backend-service names the Service shop/error, which"},
	} {
		t.Run(c.title, func(t *testing.T) {
			err := mustExist(t.Context(), client, c.options, c.published, log)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("mustExist: %v, want %q", err, c.want)
			}
		})
	}
}

// What may not be looked up may well be there.
func TestMustExistWithoutTheRight(t *testing.T) {
	client := fake.NewSimpleClientset()
	client.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "shop", errors.New("no right"))
	})
	if err := mustExist(t.Context(), client, ingress.Options{WatchNamespace: "shop"}, source.Key{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

func TestOwnZone(t *testing.T) {
	pod, node := &corev1.Pod{}, &corev1.Node{}
	pod.Namespace, pod.Name, pod.Spec.NodeName = "fairway", "fairway-0", "node-1"
	node.Name, node.Labels = "node-1", map[string]string{corev1.LabelTopologyZone: "west"}
	client := fake.NewSimpleClientset(pod, node)
	t.Setenv("POD_NAME", "")
	if _, err := ownZone(t.Context(), client); err == nil || !strings.Contains(err.Error(), "POD_NAME") {
		t.Errorf("without POD_NAME: %v", err)
	}
	t.Setenv("POD_NAME", "fairway-0")
	t.Setenv("POD_NAMESPACE", "fairway")
	if zone, err := ownZone(t.Context(), client); err != nil || zone != "west" {
		t.Errorf("zone %q, %v", zone, err)
	}
}

func TestAPIConfig(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "https://one.example"}}]}`
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags      apiFlags
		host, fail string
	}{
		{apiFlags{kubeconfig: kubeconfig}, "https://one.example", ""},
		{apiFlags{kubeconfig: kubeconfig, host: "https://two.example"}, "https://two.example", ""},
		{apiFlags{host: "http://two.example:8001"}, "http://two.example:8001", ""},
		{apiFlags{kubeconfig: kubeconfig, authority: "ignored"}, "https://one.example", ""},
		{apiFlags{host: "https://two.example", authority: "nowhere"}, "", "--certificate-authority must name a readable PEM file"},
		{apiFlags{kubeconfig: "nowhere"}, "", "give --kubeconfig, --apiserver-host or --manifests"},
	} {
		config, err := c.flags.config()
		switch {
		case c.fail != "":
			if err == nil || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%+v: %v, want %q", c.flags, err, c.fail)
			}
		case err != nil:
			t.Errorf("%+v: %v", c.flags, err)
		case config.Host != c.host || config.QPS != 50 || config.Burst != 100 || !strings.HasPrefix(config.UserAgent, "fairway/"):
			t.Errorf("%+v: host %s, %v requests/s, %d at once, %s", c.flags, config.Host, config.QPS, config.Burst, config.UserAgent)
		}
	}
}
