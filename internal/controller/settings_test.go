// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// TestRefusedSettings has settings that the driver does not take: raw configuration goes by its part, all else as a whole, and what was in force stays.
func TestRefusedSettings(t *testing.T) {
	run(t, func(t *testing.T, s *stand) {
		key := source.Key{Namespace: "default", Name: "settings"}
		s.Loop.Builder = ingress.NewBuilder(ingress.Options{WatchWithoutClass: true, ConfigMap: key})
		set := func(data map[string]string) *State {
			t.Helper()
			object := &corev1.ConfigMap{Data: data}
			object.Namespace, object.Name = key.Namespace, key.Name
			s.objects.set(&source.Snapshot{ConfigMaps: map[source.Key]*corev1.ConfigMap{key: object}})
			synctest.Wait()
			state := s.State()
			if state.Err != nil || state.InForce == nil {
				t.Fatalf("not in force: %v", state.Err)
			}
			return state
		}
		told := func(state *State, field, words string) {
			t.Helper()
			for _, p := range state.Problems {
				if p.Field == field && strings.Contains(p.Message, words) {
					return
				}
			}
			t.Errorf("no problem of %s says %q: %+v", field, words, state.Problems)
		}
		s.plane.dislikes = func(m *model.Model) map[string]string {
			refused := map[string]string{}
			if strings.Contains(string(m.Settings.Raw.HTTP), "bad") {
				refused["http-snippet"] = "bad taste"
			}
			if strings.Contains(m.Settings.LogFormat, "bad") {
				refused[""] = "bad words"
			}
			return refused
		}
		close(s.objects.synced)
		set(map[string]string{"http-snippet": "good on;", "server-tokens": "true"})
		state := set(map[string]string{"http-snippet": "bad on;", "server-tokens": "false"})
		told(state, "data[http-snippet]", "bad taste; what stood there before stays in force")
		if got := state.InForce.Model.Settings; got.Raw.HTTP != "good on;\n" || got.ServerTokens {
			t.Errorf("in force: %q, tokens %v", got.Raw.HTTP, got.ServerTokens)
		}
		state = set(map[string]string{"log-format-upstream": "bad", "server-tokens": "true"})
		told(state, "data", "bad words; the settings before it stay in force")
		if got := state.InForce.Model.Settings; got.Raw.HTTP != "good on;\n" || got.ServerTokens || got.LogFormat != model.DefaultLogFormat {
			t.Errorf("in force: %q, tokens %v, log %q", got.Raw.HTTP, got.ServerTokens, got.LogFormat)
		}
		state = set(map[string]string{"log-format-upstream": "fine"})
		if got := state.InForce.Model.Settings; got.LogFormat != "fine" || got.Raw.HTTP != "" || len(state.Problems) != 0 {
			t.Errorf("repaired: %q, %q, %v", got.LogFormat, got.Raw.HTTP, state.Problems)
		}
	})
}
