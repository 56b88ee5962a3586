// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// References gives the Secrets and ConfigMaps that an Ingress names, in its order and unique: what a source must keep in memory if the Ingress is
// accepted. Whether the settings let it name them does not matter here.
func References(options Options, ing *netv1.Ingress) (secrets, configMaps []source.Key) {
	seen := map[source.Key]bool{}
	for _, entry := range ing.Spec.TLS {
		key := source.Key{Namespace: ing.Namespace, Name: entry.SecretName}
		if key.Name != "" && !seen[key] {
			seen[key] = true
			secrets = append(secrets, key)
		}
	}
	permissive := model.DefaultSettings()
	permissive.CrossNamespace = true
	effect, _ := annotation.Parse(options.AnnotationsPrefix, ingressRef(ing), ing.Annotations, &permissive)
	for _, l := range effect.Lookups {
		key := source.Key{Namespace: l.Ref.Namespace, Name: l.Ref.Name}
		if l.Ref.Kind == "ConfigMap" {
			configMaps = append(configMaps, key)
		} else if !seen[key] {
			seen[key] = true
			secrets = append(secrets, key)
		}
	}
	return secrets, configMaps
}
