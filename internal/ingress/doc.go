// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package ingress turns Ingress objects into the model. It reads a Snapshot and its Options and nothing else, neither clock nor
// network, so equal inputs give equal models, byte for byte, whatever was built before. A broken Ingress yields Problems and never
// changes what its neighbours get.
//
// The work goes in five steps, each remembered by a [Builder] under what it depends on, so that a rebuild costs little more than the change:
//
//	claim.go        one Ingress and its annotations → claims on hosts and paths
//	tls.go          the claims on one host and the Secrets they name → its certificates
//	host.go         the claims on one host → its matches and routes (match.go orders them, canary.go shares them)
//	listener.go     the ConfigMaps of TCP and UDP services → ports, and what is behind them
//	backend.go      one Service and its EndpointSlices → a backend (port.go, endpoint.go, externalname.go, topology.go)
//
// When only endpoints changed, which is most of the time, all but the last is skipped: onlyendpoints.go.
//
// The same functions judge an Ingress before it is stored: review.go.
//
// Annotations are in package annotation, the ConfigMap in package settings. Where this differs from the predecessor, docs/differences.md
// says so. Start with build.go.
package ingress
