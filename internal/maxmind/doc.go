// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package maxmind downloads databases of MaxMind, from there with a license key or from a mirror, into a folder. An edition takes the place of an
// older one only when it has arrived whole. What is done with the files, and when they are looked at, is not its business. Start with download.go.
package maxmind
