// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/settings"
	"github.com/fairway-ingress/fairway/internal/source"
)

// parseSettings reads the ConfigMap that the options name. A missing one gives the defaults.
func parseSettings(options *Options, snapshot *source.Snapshot) (model.Settings, []model.Problem) {
	key := options.ConfigMap
	if key.Name == "" {
		return model.DefaultSettings(), nil
	}
	owner := model.Ref{Kind: "ConfigMap", Namespace: key.Namespace, Name: key.Name}
	object := snapshot.ConfigMaps[key]
	if object == nil {
		return model.DefaultSettings(), []model.Problem{{
			Object: owner, Reason: model.ReasonMissingConfiguration,
			Message: "--configmap names it, but there is no such ConfigMap; the default settings are in force",
		}}
	}
	return settings.Parse(owner, object.Data)
}
