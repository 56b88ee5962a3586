// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan computes what has to be done to a gateway: which entities are left out and what stands in for them ([Exclude]), which are created,
// changed and deleted and in which order ([Diff]), and which were changed by hand ([Drifted]).
//
// It is pure: what a gateway holds comes in as [Held] values, what to do goes out as a graph of operations. Who carries them out is package kong.
// Start with diff.go, then order.go.
package plan
