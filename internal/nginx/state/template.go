// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// fillRoute fills in the variables of a template that say whose the route is; the others are left for the requests.
func fillRoute(t model.Template, r *model.Route) string {
	if !strings.Contains(string(t), "${") {
		return string(t)
	}
	return strings.NewReplacer(
		"${namespace}", objectName(r.Owner.Namespace), "${ingress_name}", objectName(r.Owner.Name),
		"${service_name}", objectName(r.Backend.Service), "${service_port}", objectName(r.Backend.Port),
	).Replace(string(t))
}

// objectName gives a name as it is, or nothing when no API server would let an object have it: it must not become a variable.
func objectName(name string) string {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.') {
			return ""
		}
	}
	return name
}
