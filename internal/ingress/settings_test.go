// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

var settingsKey = source.Key{Namespace: "fairway", Name: "settings"}

func settingsSnapshot(data map[string]string) *source.Snapshot {
	return &source.Snapshot{ConfigMaps: map[source.Key]*corev1.ConfigMap{settingsKey: {Data: data}}}
}

// refusedBuild builds twice: the second time, nginx has refused one of the settings of the first.
func refusedBuild(t *testing.T, data map[string]string, key string, before *model.Settings) (model.Settings, string) {
	t.Helper()
	b := NewBuilder(Options{ConfigMap: settingsKey})
	if before != nil {
		b.Confirm(*before)
	}
	first := b.Build(settingsSnapshot(data)).Model
	refused := map[string]string{model.SettingsRefusal(first.SettingsID, key): "it is bad"}
	second := b.Build(settingsSnapshot(data).WithRefused(refused)).Model
	var messages []string
	for _, p := range second.Problems {
		messages = append(messages, p.Field+": "+p.Message)
	}
	return second.Settings, strings.Join(messages, "\n")
}

func TestRefusedRaw(t *testing.T) {
	data := map[string]string{"http-snippet": "new on;", "server-snippet": "kept on;"}
	before := model.DefaultSettings()
	before.Raw.HTTP = "old on;\n"
	s, problems := refusedBuild(t, data, "http-snippet", &before)
	if s.Raw.HTTP != "old on;\n" || s.Raw.Server != "kept on;\n" || !strings.Contains(problems, "data[http-snippet]: nginx refuses it: it is bad; what stood there before stays in force") {
		t.Errorf("after another: %+v\n%s", s.Raw, problems)
	}
	s, problems = refusedBuild(t, data, "http-snippet", nil)
	if s.Raw.HTTP != "" || s.Closed != "" || !strings.Contains(problems, "the configuration goes without it") {
		t.Errorf("at the start: %+v\n%s", s.Raw, problems)
	}
	s, problems = refusedBuild(t, map[string]string{"enable-modsecurity": "true", "modsecurity-snippet": "x"}, "modsecurity-snippet", nil)
	if s.Closed == "" || s.Route.WAF == nil || s.Route.WAF.Rules != "" || !strings.Contains(problems, "every route answers 503") {
		t.Errorf("a control at the start: %q\n%s", s.Closed, problems)
	}
}

func TestRefusedSettings(t *testing.T) {
	data := map[string]string{"log-format-upstream": "$nothing", "block-cidrs": "192.0.2.0/24", "server-tokens": "true"}
	before := model.DefaultSettings()
	before.HTTPSRedirectCode = 301
	s, problems := refusedBuild(t, data, "", &before)
	if s.HTTPSRedirectCode != 301 || len(s.Blocked.Networks) != 0 || !strings.Contains(problems, "the settings before it stay in force") {
		t.Errorf("after others: %+v\n%s", s, problems)
	}
	s, problems = refusedBuild(t, data, "", nil)
	if s.LogFormat != model.DefaultLogFormat || len(s.Blocked.Networks) != 1 || s.ServerTokens || !strings.Contains(problems, "the defaults are in force") {
		t.Errorf("at the start: %+v\n%s", s, problems)
	}
	// Another text is another try.
	b := NewBuilder(Options{ConfigMap: settingsKey})
	id := b.Build(settingsSnapshot(data)).Model.SettingsID
	data["log-format-upstream"] = "$status"
	m := b.Build(settingsSnapshot(data).WithRefused(map[string]string{model.SettingsRefusal(id, ""): "it is bad"})).Model
	if m.Settings.LogFormat != "$status" || len(m.Problems) != 0 {
		t.Errorf("repaired: %q %v", m.Settings.LogFormat, m.Problems)
	}
}

func TestSettingsReferences(t *testing.T) {
	object := &corev1.ConfigMap{Data: map[string]string{"add-headers": "a/added", "proxy-set-headers": "b/set", "ssl-dh-param": "c/dh"}}
	object.Namespace, object.Name = settingsKey.Namespace, settingsKey.Name
	options := Options{ConfigMap: settingsKey}
	secrets, configMaps := SettingsReferences(options, object)
	if len(configMaps) != 2 || configMaps[0].String() != "a/added" || configMaps[1].String() != "b/set" || len(secrets) != 1 || secrets[0].String() != "c/dh" {
		t.Errorf("got %v and %v", secrets, configMaps)
	}
	object.Name = "other"
	if secrets, configMaps := SettingsReferences(options, object); secrets != nil || configMaps != nil {
		t.Errorf("of another ConfigMap: %v, %v", secrets, configMaps)
	}
}

func TestOnlyIPv4(t *testing.T) {
	answers := []netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("192.0.2.1")}
	if got := onlyIPv4(answers); len(got) != 1 || got[0] != answers[1] {
		t.Errorf("got %v", got)
	}
}
