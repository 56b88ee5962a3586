// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// kongObject finds a custom resource that a Problem is about, for Events; nil where there is none.
func kongObject(snapshot *source.Snapshot, ref model.Ref) (version string, object metav1.Object) {
	kind, known := kongapi.KindNamed(ref.Kind)
	if snapshot.Kong == nil || !known {
		return "", nil
	}
	return kind.APIVersion(), kind.Get(snapshot.Kong, source.Key{Namespace: ref.Namespace, Name: ref.Name})
}
