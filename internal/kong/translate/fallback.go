// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// destination gives the service that the requests of a route go to: its own or, while that has no target for them, the one that stands in.
func (t *translation) destination(source *model.KongRoute) model.KongServiceID {
	if source.Fallback.IsZero() {
		return source.Service
	}
	own, other := t.service(source.Service), t.service(source.Fallback)
	switch {
	case other == nil || other.closed != "" || !other.serves:
		return source.Service
	case own == nil || own.closed != "" || own.serves:
		return source.Service
	case slices.ContainsFunc(own.plugins, guards):
		t.problem(source.Origin.Ref, source.Field, model.ReasonUnsupported,
			"a plugin of the Service %s/%s decides who may pass, and would not be asked for the default-backend, which therefore gets no requests",
			own.id.Namespace, own.id.Name)
		return source.Service
	}
	return source.Fallback
}

// guards tells whether a plugin may be there to keep somebody out.
func guards(a model.KongAttachment) bool {
	return a.Plugin == nil || entity.ControlsAccess(a.Plugin.Plugin)
}

// serving gives the targets that take new requests.
func serving(targets []model.KongTarget) []model.KongTarget {
	return slices.DeleteFunc(slices.Clone(targets), func(target model.KongTarget) bool { return target.Weight == 0 })
}
