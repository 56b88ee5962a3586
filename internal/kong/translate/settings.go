// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"reflect"
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
)

// heeded are the settings that routes already have in them, or that decide what objects may say.
var heeded = []string{
	"Route", "Closed", "ForceHTTPSRedirect", "HTTPSRedirectCode", "NoAuth", "GlobalAuth",
	"AllowedResponseHeaders", "CrossNamespace", "RiskLevel", "Snippets",
	"StrictPaths", "ForbiddenWords", "NoHTTPSRedirect", "RetryNonIdempotent", "RedirectFrom", "RedirectTo", "Blocked", "VirtualServices", "Passthrough",
}

// checkSettings reports settings that are for nginx alone, on whatever object holds them. Who is blocked everywhere must not get in, so that closes
// all routes.
func (t *translation) checkSettings(s *model.Settings) {
	defaults := reflect.ValueOf(model.DefaultSettings())
	written := reflect.ValueOf(*s)
	for i := range written.NumField() {
		name := written.Type().Field(i).Name
		if slices.Contains(heeded, name) || reflect.DeepEqual(written.Field(i).Interface(), defaults.Field(i).Interface()) {
			continue
		}
		t.problem(model.Ref{}, "", model.ReasonUnsupported,
			"the Kong data plane has nothing for the settings of %s; they have no effect, and Kong's own configuration replaces them", name)
	}
	b := &s.Blocked
	if len(b.Networks)+len(b.UserAgents)+len(b.Refers) > 0 {
		t.closed = "the settings block clients everywhere"
		t.problem(model.Ref{}, "", model.ReasonUnsupported,
			"the Kong data plane has nothing for settings that block clients everywhere, so all routes answer 503; "+
				"a global KongClusterPlugin of ip-restriction or bot-detection replaces them")
	}
}
