// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package architecture has no code, only tests that hold the house in order: which package may import which, that every package is
// introduced in ARCHITECTURE.md, and the few habits that a compiler cannot check.
//
// When one of them fails, the design is talking. Move the code, or settle in docs/adr why the design should change; do not edit
// the table to make a build pass. Start with layers_test.go.
package architecture
