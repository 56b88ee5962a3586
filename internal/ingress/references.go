// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/source"
)

// References gives the Secrets and ConfigMaps that an Ingress names, in its order and unique: what a source must keep in memory if the Ingress is
// accepted.
func References(_ Options, ing *netv1.Ingress) (secrets, configMaps []source.Key) {
	seen := map[source.Key]bool{}
	for _, entry := range ing.Spec.TLS {
		key := source.Key{Namespace: ing.Namespace, Name: entry.SecretName}
		if key.Name != "" && !seen[key] {
			seen[key] = true
			secrets = append(secrets, key)
		}
	}
	return secrets, nil
}
