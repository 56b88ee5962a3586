// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
)

// translated is what was translated last.
type translated struct {
	kong      model.Kong
	checked   []model.Problem // of the settings
	upstreams []*upstreamUnit
	problems  []model.Problem
}

// retarget follows a model that differs from the last one in the targets of services alone, which is what most changes of a cluster come to: then
// nothing but upstreams has to be looked at. It tells false when the model differs in more, or when the difference makes or ends a Problem.
func (r *round) retarget(checked []model.Problem) (problems []model.Problem, ok bool) {
	l := r.last
	if l == nil || r.closed != r.surroundings.closed || !slices.Equal(l.checked, checked) || !sameButServices(&l.kong, r.kong) {
		return nil, false
	}
	for i, s := range r.kong.Services {
		if old := l.kong.Services[i]; s != old && (!sameButTargets(old, s) || !viewOf(s).equal(r.bound[s.ID].view)) {
			return nil, false
		}
	}
	r.bind(r.kong.Services)
	for _, u := range l.upstreams {
		if u.isCurrent() {
			continue
		}
		before := u.problems
		if r.bringUpstream(u, true); !slices.Equal(before, u.problems) {
			return nil, false
		}
	}
	l.kong = *r.kong
	return slices.Clone(l.problems), true
}

// sameButServices tells whether all but the services is the very same, and there are as many of those.
func sameButServices(a, b *model.Kong) bool {
	return model.SameList(a.Routes, b.Routes) && model.SameList(a.GlobalPlugins, b.GlobalPlugins) && model.SameList(a.Consumers, b.Consumers) &&
		model.SameList(a.Groups, b.Groups) && model.SameList(a.Certificates, b.Certificates) && model.SameList(a.ServerNames, b.ServerNames) &&
		model.SameList(a.Authorities, b.Authorities) && len(a.Services) == len(b.Services)
}
