// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package entity has what a Kong Gateway is made of as plain data: services, routes, upstreams, plugins, consumers and the rest, each with the
// object that asked for it, and a State of all of them.
//
// What goes out is canonical JSON, byte for byte equal for equal values, in three forms: bodies of the Admin API, the declarative document of
// DB-less gateways, and a redacted form for people. What Kong knows about a kind (its path, what it refers to, what must be unique) is in one
// table, in kinds.go.
//
// The package is pure. What a model means in these terms is said by the translation; how a state gets into a gateway by the sync. Start with
// entity.go, then state.go.
package entity
