// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// kongWorld is a cluster with the consumer ann, whose credential is the Secret ann, and a plugin that has its configuration from the Secret conf.
func kongWorld(t *testing.T) *source.Snapshot {
	t.Helper()
	secret := &corev1.Secret{Data: map[string][]byte{"key": []byte("k")}}
	secret.Namespace, secret.Name, secret.Labels = "a", "ann", map[string]string{"konghq.com/credential": "key-auth"}
	consumer := &kongapi.KongConsumer{Username: "ann", Credentials: []string{"ann"}}
	consumer.Namespace, consumer.Name, consumer.Annotations = "a", "ann", map[string]string{"kubernetes.io/ingress.class": "kong"}
	bob := consumer.Name + "-bob"
	second := &kongapi.KongConsumer{Username: "bob", Credentials: []string{"bob"}}
	second.Namespace, second.Name, second.Annotations = "a", bob, consumer.Annotations
	s := &source.Snapshot{Kong: &kongapi.Objects{}, Secrets: map[source.Key]*corev1.Secret{{Namespace: "a", Name: "ann"}: secret}}
	s.Kong.Put("KongConsumer", source.Key{Namespace: "a", Name: "ann"}, consumer)
	s.Kong.Put("KongConsumer", source.Key{Namespace: "a", Name: bob}, second)
	reader := &kongapi.KongPlugin{Plugin: "cors", ConfigFrom: &kongapi.ConfigFrom{SecretKeyRef: kongapi.SecretKeyRef{Name: "conf", Key: "config"}}}
	reader.Namespace, reader.Name = "a", "reader"
	s.Kong.Put("KongPlugin", source.Key{Namespace: "a", Name: "reader"}, reader)
	return s
}

func TestKongObjectsAreJudged(t *testing.T) {
	world := kongWorld(t)
	for _, c := range []struct {
		name, group, kind, object string
		schema                    string // what the gateway says; "away" when there is none
		refused, warned           string
		operation                 admissionv1.Operation // Create unless given
	}{
		{name: "plugin", group: kongapi.Group, kind: "KongPlugin", object: "{metadata: {name: p}, plugin: cors, config: {}}"},
		{
			name: "plugin that Kong refuses", group: kongapi.Group, kind: "KongPlugin", object: "{metadata: {name: p}, plugin: cors, config: {x: 1}}",
			schema: "config.x: unknown field", refused: "KongPlugin a/p is refused: config: Kong refuses the configuration: config.x: unknown field",
		},
		{
			name: "plugin without a gateway", group: kongapi.Group, kind: "KongPlugin", object: "{metadata: {name: p}, plugin: cors}",
			schema: "away", warned: "no gateway could be asked",
		},
		{
			name: "both configurations", group: kongapi.Group, kind: "KongPlugin",
			object:  "{metadata: {name: p}, plugin: cors, config: {}, configFrom: {secretKeyRef: {name: s, key: k}}}",
			refused: "there are both config and configFrom",
		},
		{
			name: "taken username", group: kongapi.Group, kind: "KongConsumer",
			object:  "{metadata: {name: other, annotations: {kubernetes.io/ingress.class: kong}}, username: ann}",
			refused: "KongConsumer a/ann has the same username",
		},
		{
			name: "same consumer again", group: kongapi.Group, kind: "KongConsumer",
			object: "{metadata: {name: ann, annotations: {kubernetes.io/ingress.class: kong}}, username: ann}",
		},
		{
			name: "another class", group: kongapi.Group, kind: "KongConsumer",
			object: "{metadata: {name: other, annotations: {kubernetes.io/ingress.class: else}}, username: ann}",
		},
		{
			name: "missing Secret comes later", group: kongapi.Group, kind: "KongConsumer",
			object: "{metadata: {name: new, annotations: {kubernetes.io/ingress.class: kong}}, username: new, credentials: [later]}",
			warned: "there is no Secret a/later",
		},
		{
			name: "clashing credential", kind: "Secret",
			object:  "{metadata: {name: bob, labels: {konghq.com/credential: key-auth}}, stringData: {}, data: {key: aw==}}",
			refused: "lets in by the same key",
		},
		{
			name: "no credential", kind: "Secret", object: "{metadata: {name: x, labels: {konghq.com/credential: key-auth}}, data: {}}",
			refused: "the Secret has no key",
		},
		{
			name: "configuration of a plugin", kind: "Secret",
			object: "{metadata: {name: conf, labels: {konghq.com/validate: plugin}}, data: {config: e30=}}", // {}
		},
		{
			name: "configuration that Kong refuses", kind: "Secret", schema: "config.x: unknown field",
			object:  "{metadata: {name: conf, labels: {konghq.com/validate: plugin}}, data: {config: e30=}}",
			refused: "data: Kong refuses the configuration of KongPlugin a/reader: config.x: unknown field",
		},
		{
			name: "configuration that is none", kind: "Secret",
			object:  "{metadata: {name: conf, labels: {konghq.com/validate: plugin}}, data: {other: e30=}}",
			refused: "with it KongPlugin a/reader cannot be built",
		},
		{
			name: "configuration that nobody reads", kind: "Secret", schema: "no",
			object: "{metadata: {name: unread, labels: {konghq.com/validate: plugin}}, data: {other: e30=}}",
		},
		{
			name: "group that open source has not", group: kongapi.Group, kind: "KongConsumerGroup",
			object:  "{metadata: {name: gold, annotations: {kubernetes.io/ingress.class: kong}}}",
			refused: "consumer groups need Kong Enterprise",
		},
		{
			name: "group that is there already", group: kongapi.Group, kind: "KongConsumerGroup", operation: admissionv1.Update,
			object: "{metadata: {name: gold, annotations: {kubernetes.io/ingress.class: kong}}}",
			warned: "consumer groups need Kong Enterprise",
		},
		{
			name: "group of another class", group: kongapi.Group, kind: "KongConsumerGroup",
			object: "{metadata: {name: gold, annotations: {kubernetes.io/ingress.class: else}}}",
		},
		{name: "other Secret", kind: "Secret", object: "{metadata: {name: x}, data: {}}"},
		{name: "other kind", group: "apps", kind: "Deployment", object: "{metadata: {name: x}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &Kong{Options: konghq.Options{}, Snapshot: func() *source.Snapshot { return world }, OpenSource: func() bool { return true }}
			k.Schema = func(context.Context, *model.KongPlugin) (string, error) {
				if c.schema == "away" {
					return "", errors.New("connection refused")
				}
				return c.schema, nil
			}
			raw, err := yaml.YAMLToJSON([]byte(c.object))
			if err != nil {
				t.Fatal(err)
			}
			kind := metav1.GroupVersionKind{Group: c.group, Version: "v1", Kind: c.kind}
			asked := &request{Kind: kind, Namespace: "a", Operation: cmp.Or(c.operation, admissionv1.Create), Object: raw}
			response := k.answer(t.Context(), asked, true)
			message := ""
			if response.Result != nil {
				message = response.Result.Message
			}
			if response.Allowed != (c.refused == "") || !strings.Contains(message, c.refused) {
				t.Errorf("allowed %v, %q; want a refusal with %q", response.Allowed, message, c.refused)
			}
			if warned := strings.Join(response.Warnings, "\n"); !strings.Contains(warned, c.warned) || c.warned == "" && warned != "" {
				t.Errorf("warned of %q, want %q", warned, c.warned)
			}
		})
	}
}
