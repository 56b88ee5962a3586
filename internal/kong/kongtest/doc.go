// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package kongtest simulates the Admin API of a Kong Gateway, with a database or without, for tests. It refuses what Kong refuses: its tables of
// fields and rules are written from what Kong documents and does, and share nothing with the driver's own.
//
// README.md lists what is enforced and what a simulator cannot know. The tests of this package speak HTTP alone, so that they can be run against a
// real gateway as well. Start with simulator.go; what Kong knows of each kind of entity is in tables.go.
package kongtest
