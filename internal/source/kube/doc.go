// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package kube makes snapshots from a Kubernetes API server. It watches the kinds that Fairway works from, keeps them in tables, and gives
// out a copy of those tables that changed since the last snapshot; what did not change is shared with it.
//
// Secrets and ConfigMaps stay in memory with their content only while an Ingress or a flag names them: all others are cut down to
// their names as they arrive. So the Ingresses are read first, and a Secret that is named later is fetched.
//
// The API server may go away and come back: the last known state stays, and the watches go on where they were. What objects
// mean is not decided here, but in package ingress.
//
// Start with source.go; table.go keeps the objects, confidential.go the Secrets and ConfigMaps.
package kube
