// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster tests Fairway on a real Kubernetes control plane: etcd, kube-apiserver and kube-controller-manager, with a pod
// runner that plays scheduler and kubelet (test/cluster). One cluster and one `fairway controller` serve the whole package; each test
// works in a Kubernetes namespace of its own. Everything lives in network namespaces that the cluster made; the tests reach into them by
// opening sockets there (package testbed).
//
// It needs root, and the cluster's programs, which TestMain builds (test/cluster/build.sh; minutes the first time). As another user
// all tests skip.
package cluster
