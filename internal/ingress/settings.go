// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/settings"
	"github.com/fairway-ingress/fairway/internal/source"
)

// parseSettings reads the ConfigMap that the options name, and those that it names. A missing one gives the defaults. The ID is that of
// Model.SettingsID.
func parseSettings(options *Options, snapshot *source.Snapshot, before *model.Settings) (model.Settings, string, []model.Problem) {
	s, id, problems := parseConfigMap(options, snapshot, before)
	s.Passthrough = options.Passthrough
	return s, id, problems
}

func parseConfigMap(options *Options, snapshot *source.Snapshot, before *model.Settings) (s model.Settings, id string, problems []model.Problem) {
	key := options.ConfigMap
	if key.Name == "" {
		return model.DefaultSettings(), "", nil
	}
	owner := model.Ref{Kind: "ConfigMap", Namespace: key.Namespace, Name: key.Name}
	object := snapshot.ConfigMaps[key]
	if object == nil {
		return model.DefaultSettings(), "", []model.Problem{{
			Object: owner, Reason: model.ReasonMissingConfiguration,
			Message: "--configmap names it, but there is no such ConfigMap; the default settings are in force",
		}}
	}
	id = settingsID(object.Data)
	if reason, refused := snapshot.Refused[model.SettingsRefusal(id, "")]; refused {
		s, problems = withoutRefused(owner, object.Data, reason, before)
	} else {
		s, problems = settings.Parse(owner, object.Data)
	}
	for _, l := range settings.Lookups(&s) {
		named := lookUp(l.Ref.Kind, source.Key{Namespace: l.Ref.Namespace, Name: l.Ref.Name}, snapshot)
		problems = append(problems, l.Resolve(&s, owner, named.data())...)
	}
	return replaceRaw(s, id, owner, snapshot.Refused, before, &problems), id, problems
}

// settingsID tells two contents of the ConfigMap apart.
func settingsID(data map[string]string) string {
	text, err := json.Marshal(data) // in the order of keys
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// withoutRefused gives the settings for a ConfigMap that nginx refuses as a whole: those in force before, else, as at the start, those that are no part of
// its configuration.
func withoutRefused(owner model.Ref, data map[string]string, reason string, before *model.Settings) (model.Settings, []model.Problem) {
	_, problems := settings.Parse(owner, data)
	s, _ := settings.Parse(owner, settings.Dynamic(data))
	now := "the defaults are in force for all settings that cost a reload"
	if before != nil {
		s, now = *before, "the settings before it stay in force"
	}
	return s, append(problems, model.Problem{Object: owner, Field: "data", Reason: model.ReasonInvalidSetting,
		Message: fmt.Sprintf("nginx refuses the configuration that it leads to: %s; %s", reason, now)})
}

// replaceRaw puts in place of refused raw configuration what was there before. Controls close all routes when there was nothing.
func replaceRaw(s model.Settings, id string, owner model.Ref, refused map[string]string, before *model.Settings, problems *[]model.Problem) model.Settings {
	raw := s.Raw
	for _, part := range model.RawParts() {
		reason, bad := refused[model.SettingsRefusal(id, part.Key)]
		if !bad {
			continue
		}
		var old model.Snippet
		if before != nil {
			old = *part.Of(&before.Raw)
		}
		if old == *part.Of(&raw) { // what was good is so no more
			old = ""
		}
		now := "what stood there before stays in force"
		if old == "" {
			now = "the configuration goes without it"
			if part.Control {
				s.Closed = "setting " + part.Key + " is refused by nginx"
				now = "every route answers 503 until it is repaired"
			}
		}
		*part.Of(&raw) = old
		*problems = append(*problems, model.Problem{Object: owner, Field: "data[" + part.Key + "]", Reason: model.ReasonInvalidSnippet,
			Message: fmt.Sprintf("nginx refuses it: %s; %s", reason, now)})
	}
	return s.WithRaw(raw)
}

// SettingsReferences gives the Secrets and ConfigMaps that the ConfigMap of the settings names.
func SettingsReferences(options Options, object *corev1.ConfigMap) (secrets, configMaps []source.Key) {
	if object.Namespace != options.ConfigMap.Namespace || object.Name != options.ConfigMap.Name {
		return nil, nil
	}
	s, _ := settings.Parse(model.Ref{}, object.Data)
	for _, l := range settings.Lookups(&s) {
		key := source.Key{Namespace: l.Ref.Namespace, Name: l.Ref.Name}
		if l.Ref.Kind == "Secret" {
			secrets = append(secrets, key)
		} else {
			configMaps = append(configMaps, key)
		}
	}
	return secrets, configMaps
}
