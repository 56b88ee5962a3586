// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package testbed sets the scene for tests and benchmarks: a real control plane (test/cluster, as a program), a `fairway controller` beside
// it, and sockets in their network. Whoever starts something stops it; what is started also ends with this process.
package testbed
