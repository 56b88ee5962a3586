// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// The source of Events with Kong, and the reason of those about what could not be translated, by the names of the Kong Ingress Controller.
const (
	kongComponent    = "kong-client"
	kongUntranslated = "KongConfigurationTranslationFailed"
)

// kongReason gives the reason of the Event about a Problem: that of what a gateway refused is the Kong Ingress Controller's already, and what is no
// failure keeps its own.
func kongReason(p model.Problem) string {
	switch p.Reason {
	case entity.ReasonRefused, model.ReasonContestedStatus, model.ReasonDeprecated, model.ReasonUnknownAnnotation, model.ReasonAmbiguous,
		model.ReasonNoEndpoints, model.ReasonCertificateExpired:
		return p.Reason
	}
	return kongUntranslated
}

// kongObject finds a custom resource that a Problem is about, for Events; nil where there is none.
func kongObject(snapshot *source.Snapshot, ref model.Ref) (version string, object metav1.Object) {
	kind, known := kongapi.KindNamed(ref.Kind)
	if snapshot.Kong == nil || !known {
		return "", nil
	}
	return kind.APIVersion(), kind.Get(snapshot.Kong, source.Key{Namespace: ref.Namespace, Name: ref.Name})
}
