// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// Whoever builds a part of the model asks for objects by these functions alone, so that the part is built anew when one of them changes.

func (r *run) findService(key source.Key) *corev1.Service {
	return look(r, func(r *run) *corev1.Service { return r.snapshot.Services[key] })
}

func (r *run) findSlices(key source.Key) []*discoveryv1.EndpointSlice {
	defer r.changesWithEndpoints()
	return lookAll(r, func(r *run) []*discoveryv1.EndpointSlice { return r.snapshot.EndpointSlices[key] })
}

// findBackend gives what package ingress has made of a port of a Service, or nil.
func (r *run) findBackend(id model.BackendID) *model.Backend {
	defer r.changesWithEndpoints()
	return look(r, func(r *run) *model.Backend { return r.memory.backends[id] })
}

// changesWithEndpoints notes that the answer to the last look-up does.
func (r *run) changesWithEndpoints() { r.endpoints = append(r.endpoints, r.lookups[len(r.lookups)-1]) }

func (r *run) findSecret(key source.Key) *corev1.Secret {
	return look(r, func(r *run) *corev1.Secret { return r.snapshot.Secrets[key] })
}

func (r *run) findFacade(key source.Key) *kongapi.KongServiceFacade {
	return look(r, func(r *run) *kongapi.KongServiceFacade { return r.objects.ServiceFacades[key] })
}

func (r *run) findUpstreamPolicy(key source.Key) *kongapi.KongUpstreamPolicy {
	return look(r, func(r *run) *kongapi.KongUpstreamPolicy { return r.objects.UpstreamPolicies[key] })
}

func (r *run) findKongIngress(key source.Key) *kongapi.KongIngress {
	return look(r, func(r *run) *kongapi.KongIngress { return r.objects.KongIngresses[key] })
}

func (r *run) findKongPlugin(key source.Key) *kongapi.KongPlugin {
	return look(r, func(r *run) *kongapi.KongPlugin { return r.objects.Plugins[key] })
}

func (r *run) findClusterPlugin(name string) *kongapi.KongPlugin {
	return look(r, func(r *run) *kongapi.KongPlugin { return r.objects.ClusterPlugins[source.Key{Name: name}] })
}

func (r *run) findConsumers() map[source.Key]*kongapi.KongConsumer {
	return lookWith(r, func(r *run) map[source.Key]*kongapi.KongConsumer { return r.objects.Consumers }, equalTables)
}

func (r *run) findConsumerGroups() map[source.Key]*kongapi.KongConsumerGroup {
	return lookWith(r, func(r *run) map[source.Key]*kongapi.KongConsumerGroup { return r.objects.ConsumerGroups }, equalTables)
}

func equalTables[K, V comparable](a, b map[K]V) bool {
	return model.SameTable(a, b) || maps.Equal(a, b)
}
