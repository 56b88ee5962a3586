// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package chart tests charts/fairway with Helm as a library: that it is sound, that a real API server takes what it renders, that the
// controller takes the arguments, and that the plain manifests in deploy are what the chart renders. It also reads the Dockerfile with BuildKit's
// parser.
// It is a module of its own so that none of this is a dependency of the product.
package chart
