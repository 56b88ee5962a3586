// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan computes what has to be done to a gateway: which entities are left out and what stands in for them ([Exclude]), which are created,
// changed and deleted and in which order ([Diff]), and which were changed by hand ([Drifted]).
//
// It is pure: what a gateway holds comes in as an [Inventory], what to do goes out as a graph of operations. Who carries them out is package kong.
// States that follow each other share the entities that did not change, and only what differs between them is looked at: see [Checker], and
// [Inventory.Settle].
// Start with diff.go, then order.go.
package plan
