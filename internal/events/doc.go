// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package events tells people what happens to their objects, by Kubernetes Events: one per Problem, on the object that has it, and those that the
// predecessor sends, under its reasons. In goes what the loop knows after each round, out come Events.
//
// A Problem that lasts is told once and again before its Event expires; one that is over within a moment, as between a Service and
// its endpoints, is not told. Events go out at a bounded rate, and client-go's correlator folds those that repeat. What is in
// line and over before its turn is dropped, so the line is never longer than what there is to say. Start with reporter.go.
package events
