// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

// TestCasesOfNginx translates the cases that the nginx data plane is tested with: a gateway takes every state, and whatever Kong has nothing for is
// told. A route is never open that nginx would have closed.
func TestCasesOfNginx(t *testing.T) {
	files, err := filepath.Glob("../../test/e2e/http/testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	same := 0
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "../../test/e2e/http/testdata/"), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if caseOfNginx(t, archive) {
				same++
			}
		})
	}
	t.Logf("%d of %d cases mean on Kong what they mean on nginx, as far as nothing is told", same, len(files))
}

// caseOfNginx tells whether nothing is told that is Kong's alone.
func caseOfNginx(t *testing.T, archive *txtar.Archive) bool {
	objects, err := manifests.Open("-", manifests.Options{Stdin: bytes.NewReader(part(archive, "cluster.yaml"))})
	if err != nil {
		t.Fatal(err)
	}
	c := &testCase{Version: "3.9", Flavor: "traditional_compatible", snapshot: objects.Snapshot()}
	c.AllowLocalEndpoints, c.Ingress.AllowLocalEndpoints, c.Ingress.WatchWithoutClass = true, true, true
	if data := part(archive, "settings.yaml"); data != nil {
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
