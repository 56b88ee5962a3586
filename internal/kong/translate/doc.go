// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package translate says in Kong's terms what a model asks for: [Translator.Translate] gives the state that a gateway is to hold, and what it cannot hold as
// Problems. It is a function of the model and of what the gateway is; equal inputs give equal states, byte for byte.
//
// The state is made in units that have nothing to do with each other: the routes of hosts that share something, a service, an upstream with its
// targets, a certificate. A translator remembers them and translates anew only those of which something has changed.
//
// Names and ids are those of the Kong Ingress Controller where it has a name for the thing, so that an installation can be taken over in place. What
// the objects mean was decided in package konghq; how a state gets into a gateway is decided by the sync. A control that cannot be built closes its
// route: a plugin answers 503.
//
//	translate.go   the whole (memory.go: what is remembered; retarget.go: when only targets have changed)
//	bundle.go      which routes have nothing to do with others
//	route.go       routes (path.go, tie.go: which of two takes a request; expression.go: the flavor "expressions")
//	service.go     services, upstreams, targets (health.go: which targets are left out; fallback.go: what stands in for a service)
//	canary.go      shares of the requests
//	policy.go      what Fairway's own annotations ask for (upstreampolicy.go, control.go, redirect.go)
//	plugin.go      plugins and their scopes (pluginunit.go)
//	consumer.go    consumers and credentials
//	name.go        names, ids, tags
package translate
