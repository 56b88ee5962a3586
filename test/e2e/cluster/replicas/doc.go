// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package replicas tests several Fairways side by side on a real Kubernetes control plane: leadership, the status of Ingresses, Events, the
// rights they need, and rolling updates of Fairway itself. Each replica is a process in the cluster's network, with the
// ServiceAccount and the rights of deploy/rbac.yaml and nothing else, and with a Pod object in its name.
//
// The API server writes an audit log, from which rbac_test.go reads what was asked for. It needs root, like package cluster above it.
package replicas
