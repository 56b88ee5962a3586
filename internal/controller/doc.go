// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller is the loop that makes data planes obey objects. It waits until a source says that something changed, takes a
// snapshot, builds the whole model and gives it to the driver, which changes just the difference. Nothing depends on having seen
// every event: a change that comes while the last is being applied is in the next round, and a round that failed is repeated.
//
// What the loop knows last is in State, from which readiness, metrics, the debug server and `fairway explain` are
// answered. Start with loop.go; server.go is the HTTP side.
package controller
