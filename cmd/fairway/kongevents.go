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
	if snapshot.Kong == nil {
		return "", nil
	}
	for _, kind := range kongapi.Kinds() {
		if kind.Name == ref.Kind {
			version = kind.APIVersion()
		}
	}
	key, objects := source.Key{Namespace: ref.Namespace, Name: ref.Name}, snapshot.Kong
	switch ref.Kind {
	case "KongPlugin":
		object = found(objects.Plugins[key])
	case "KongClusterPlugin":
		object = found(objects.ClusterPlugins[ref.Name])
	case "KongConsumer":
		object = found(objects.Consumers[key])
	case "KongConsumerGroup":
		object = found(objects.ConsumerGroups[key])
	case "KongUpstreamPolicy":
		object = found(objects.UpstreamPolicies[key])
	case "KongIngress":
		object = found(objects.KongIngresses[key])
	case "TCPIngress":
		object = found(objects.TCPIngresses[key])
	case "UDPIngress":
		object = found(objects.UDPIngresses[key])
	}
	return version, object
}
