// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package explain says in words what is done with a request or an Ingress, and lists hosts, backends and problems. In go [Facts], out come
// answers that print as text for people and encode as JSON for programs. It asks model.Find, the reference for what the data plane
// does, and looks at neither network nor clock, so equal facts give equal answers.
//
// Start with url.go; ingress.go answers for an Ingress, list.go prints what there is.
package explain

import (
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Facts are what an answer is drawn from.
type Facts struct {
	Model *model.Model
	// Accepted are the Ingresses that the model was made from; without them an answer can't tell whose rules lost.
	Accepted []*netv1.Ingress
	// Problems are at least those of the model.
	Problems Problems
	// HealthPath is what every path that the catch-all host answers as a health check begins with; empty if there is none.
	HealthPath string
	// Out are the endpoints that are to get no requests, as far as anybody has found out.
	Out []model.EndpointHealth
}
