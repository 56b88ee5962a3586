// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package admin speaks with the Admin API of one Kong Gateway over HTTP: entities and lists of them, declarative documents, and what the gateway says
// of itself. Every failure is an [Error] that says to which class it belongs, which is all that the sync decides by.
//
// Requests that fail for a reason that may pass are repeated, later and later; no more than so many are under way at once. The package decides
// nothing about what a gateway should hold, and neither logs bodies nor prints them: they hold keys. Start with client.go.
package admin
