// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"strings"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Place is a path of a host, without final slashes. Ingresses that share no place never take a path from each other.
type Place struct{ Host, Path string }

// Places gives the places that an Ingress may claim, each once.
func Places(ing *netv1.Ingress) []Place {
	var places []Place
	seen := map[Place]bool{}
	add := func(host, path string) {
		if host == "" {
			host = model.CatchAll
		}
		p := Place{strings.ToLower(host), strings.TrimRight(path, "/")}
		if !seen[p] {
			seen[p] = true
			places = append(places, p)
		}
	}
	for _, rule := range ing.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			add(rule.Host, path.Path)
		}
	}
	if ing.Spec.DefaultBackend != nil {
		add(model.CatchAll, "/")
	}
	return places
}
