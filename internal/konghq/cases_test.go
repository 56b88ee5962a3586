// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

// TestCasesOfNginx translates the cases that the nginx data plane is tested with: a gateway takes every state, and whatever Kong has nothing for is
// told. A route is never open that nginx would have closed.
func TestCasesOfNginx(t *testing.T) {
	same, all := 0, 0
	golden.Run(t, "../../test/e2e/http/testdata/*/*.txtar", func(t *testing.T, file *golden.Case) {
		all++
		if caseOfNginx(t, file) {
			same++
		}
	})
	t.Logf("%d of %d cases mean on Kong what they mean on nginx, as far as nothing is told", same, all)
}

// caseOfNginx tells whether nothing is told that is Kong's alone.
func caseOfNginx(t *testing.T, file *golden.Case) bool {
	objects, err := manifests.Open("-", manifests.Options{Stdin: bytes.NewReader(file.Part("cluster.yaml"))})
	if err != nil {
		t.Fatal(err)
	}
	c := &testCase{Version: "3.9", Flavor: "traditional_compatible", snapshot: objects.Snapshot()}
	c.AllowLocalEndpoints, c.Ingress.AllowLocalEndpoints, c.Ingress.WatchWithoutClass = true, true, true
	if data := file.Part("settings.yaml"); data != nil {
		settings := &corev1.ConfigMap{}
		settings.Namespace, settings.Name = "fairway", "settings"
		if err := yaml.Unmarshal(data, &settings.Data); err != nil {
			t.Skip("the settings are not what a ConfigMap holds")
		}
		c.Ingress.ConfigMap = source.Key{Namespace: "fairway", Name: "settings"}
		c.snapshot.ConfigMaps[c.Ingress.ConfigMap] = settings
	}
	state, problems := c.build()
	for _, fault := range state.Check() {
		t.Errorf("%s %s: %s", fault.Entity.Kind().Singular, entity.Name(fault.Entity), fault.Reason)
	}
	gateway := kongtest.New(kongtest.Options{Version: "3.9.0", DBLess: true})
	push(t, gateway, state.Document(entity.Version{Major: 3, Minor: 9}, entity.Flat))
	for _, p := range problems {
		switch p.Reason {
		case model.ReasonUnsupported, model.ReasonUnavailable, model.ReasonAmbiguous:
			return false
		}
	}
	return true
}
