// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import "github.com/fairway-ingress/fairway/internal/model"

// Effect is what the annotations of one Ingress ask for, before it is known for which path, host and backend.
type Effect struct {
	// Policy is complete but for two fields: Rewrite is nil, see RewriteTarget, and HTTPSRedirect is what is asked for; whether it
	// happens depends on the host and the path.
	Policy model.Policy
	// ForceHTTPSRedirect asks for the redirect also where there is no certificate.
	ForceHTTPSRedirect bool
	// UseRegex says that the paths are regular expressions, for the whole host.
	UseRegex bool
	// RewriteTarget replaces what the path, as an expression, finds; empty means no rewrite.
	RewriteTarget string
	// Canary says that the Ingress shares the routes of others by CanaryRule, of which Owner and Backend are not set.
	Canary     bool
	CanaryRule model.Canary
	// CanaryClosed, when not empty, is why the canary must not take any request.
	CanaryClosed string
	// Closed, when not empty, is why every route of the Ingress is answered with 503.
	Closed string
}

// newEffect is the effect of no annotation at all.
func newEffect(defaults *model.Settings) *Effect {
	return &Effect{
		Policy:             defaults.Route,
		ForceHTTPSRedirect: defaults.ForceHTTPSRedirect,
		CanaryRule:         model.Canary{WeightTotal: 100},
	}
}
