// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Round is what one round of the loop came to.
type Round struct {
	Model *model.Model
	// Accepted are the Ingresses that are ours.
	Accepted []*netv1.Ingress
	// Problems is how often each reason of a problem was given.
	Problems map[string]int
	// Built is how long the model took.
	Built time.Duration
	// Seen is when the first of the changes was seen that the round brings into force; zero when nothing changed.
	Seen   time.Time
	Change model.Change
	Err    error // why the model is not in force
}

// changed tells whether the data plane was given anything.
func (r *Round) changed() bool { return r.Change.Reload || r.Change.Set+r.Change.Deleted > 0 }

// Round notes a round of the loop at the time now.
func (m *Metrics) Round(r Round, now time.Time) {
	m.own.round(&r, now)
	if m.old != nil {
		m.old.round(&r, now)
	}
}
