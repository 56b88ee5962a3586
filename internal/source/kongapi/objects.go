// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongapi

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Objects are those of one moment. Tables may be nil. Nothing in it may be modified.
type Objects struct {
	Plugins          map[types.NamespacedName]*KongPlugin
	ClusterPlugins   map[string]*KongPlugin
	Consumers        map[types.NamespacedName]*KongConsumer
	ConsumerGroups   map[types.NamespacedName]*KongConsumerGroup
	UpstreamPolicies map[types.NamespacedName]*KongUpstreamPolicy
	KongIngresses    map[types.NamespacedName]*KongIngress
	TCPIngresses     map[types.NamespacedName]*TCPIngress
	UDPIngresses     map[types.NamespacedName]*UDPIngress
	ClassParameters  map[types.NamespacedName]*IngressClassParameters
	ServiceFacades   map[types.NamespacedName]*KongServiceFacade
	ReferenceGrants  map[types.NamespacedName]*ReferenceGrant
}

// Kind is a kind of custom resource.
type Kind struct {
	Group, Version, Name, Plural string
	// Cluster says that its objects are in no namespace.
	Cluster bool
	// New gives an empty object.
	New func() metav1.Object
}

// Group is that of most kinds.
const Group = "configuration.konghq.com"

// Kinds lists the kinds that count.
func Kinds() []Kind {
	return []Kind{
		{Group, "v1", "KongPlugin", "kongplugins", false, func() metav1.Object { return &KongPlugin{} }},
		{Group, "v1", "KongClusterPlugin", "kongclusterplugins", true, func() metav1.Object { return &KongPlugin{} }},
		{Group, "v1", "KongConsumer", "kongconsumers", false, func() metav1.Object { return &KongConsumer{} }},
		{Group, "v1beta1", "KongConsumerGroup", "kongconsumergroups", false, func() metav1.Object { return &KongConsumerGroup{} }},
		{Group, "v1beta1", "KongUpstreamPolicy", "kongupstreampolicies", false, func() metav1.Object { return &KongUpstreamPolicy{} }},
		{Group, "v1", "KongIngress", "kongingresses", false, func() metav1.Object { return &KongIngress{} }},
		{Group, "v1beta1", "TCPIngress", "tcpingresses", false, func() metav1.Object { return &TCPIngress{} }},
		{Group, "v1beta1", "UDPIngress", "udpingresses", false, func() metav1.Object { return &UDPIngress{} }},
		{Group, "v1alpha1", "IngressClassParameters", "ingressclassparameterses", false, func() metav1.Object { return &IngressClassParameters{} }},
		{"incubator.ingress-controller.konghq.com", "v1alpha1", "KongServiceFacade", "kongservicefacades", false,
			func() metav1.Object { return &KongServiceFacade{} }},
		{"gateway.networking.k8s.io", "v1beta1", "ReferenceGrant", "referencegrants", false, func() metav1.Object { return &ReferenceGrant{} }},
	}
}

// APIVersion gives "group/version".
func (k *Kind) APIVersion() string { return k.Group + "/" + k.Version }

// Decode reads an object of the kind from JSON. Fields that nobody reads are passed over.
func (k *Kind) Decode(text []byte) (metav1.Object, error) {
	object := k.New()
	if err := json.Unmarshal(text, object); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	return object, nil
}

// Put puts an object of the kind into its table, or takes out the one of that name when object is nil. It is for those who make Objects.
func (o *Objects) Put(kind string, key types.NamespacedName, object metav1.Object) {
	switch kind {
	case "KongPlugin":
		put(&o.Plugins, key, object)
	case "KongClusterPlugin":
		put(&o.ClusterPlugins, key.Name, object)
	case "KongConsumer":
		put(&o.Consumers, key, object)
	case "KongConsumerGroup":
		put(&o.ConsumerGroups, key, object)
	case "KongUpstreamPolicy":
		put(&o.UpstreamPolicies, key, object)
	case "KongIngress":
		put(&o.KongIngresses, key, object)
	case "TCPIngress":
		put(&o.TCPIngresses, key, object)
	case "UDPIngress":
		put(&o.UDPIngresses, key, object)
	case "IngressClassParameters":
		put(&o.ClassParameters, key, object)
	case "KongServiceFacade":
		put(&o.ServiceFacades, key, object)
	case "ReferenceGrant":
		put(&o.ReferenceGrants, key, object)
	default:
		panic("kongapi: no table for kind " + kind)
	}
}

// Clone gives a copy with tables of its own.
func (o *Objects) Clone() *Objects {
	return &Objects{
		Plugins: maps.Clone(o.Plugins), ClusterPlugins: maps.Clone(o.ClusterPlugins), Consumers: maps.Clone(o.Consumers),
		ConsumerGroups: maps.Clone(o.ConsumerGroups), UpstreamPolicies: maps.Clone(o.UpstreamPolicies), KongIngresses: maps.Clone(o.KongIngresses),
		TCPIngresses: maps.Clone(o.TCPIngresses), UDPIngresses: maps.Clone(o.UDPIngresses), ClassParameters: maps.Clone(o.ClassParameters),
		ServiceFacades: maps.Clone(o.ServiceFacades), ReferenceGrants: maps.Clone(o.ReferenceGrants),
	}
}

func put[K comparable, T metav1.Object](table *map[K]T, key K, object metav1.Object) {
	if object == nil {
		delete(*table, key)
		return
	}
	if *table == nil {
		*table = map[K]T{}
	}
	(*table)[key] = object.(T)
}
