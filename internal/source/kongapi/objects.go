// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongapi

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Table has the objects of one kind by name; those of a kind without namespaces have none in their key. It may be nil.
type Table[T metav1.Object] map[types.NamespacedName]T

// Objects are those of one moment. Nothing in it may be modified.
type Objects struct {
	Plugins          Table[*KongPlugin]
	ClusterPlugins   Table[*KongPlugin]
	Consumers        Table[*KongConsumer]
	ConsumerGroups   Table[*KongConsumerGroup]
	UpstreamPolicies Table[*KongUpstreamPolicy]
	KongIngresses    Table[*KongIngress]
	TCPIngresses     Table[*TCPIngress]
	UDPIngresses     Table[*UDPIngress]
	ClassParameters  Table[*IngressClassParameters]
	ServiceFacades   Table[*KongServiceFacade]
	ReferenceGrants  Table[*ReferenceGrant]
}

// Kind is a kind of custom resource.
type Kind struct {
	Group, Version, Name, Plural string
	// Cluster says that its objects are in no namespace.
	Cluster bool
	// New gives an empty object.
	New func() metav1.Object

	get   func(*Objects, types.NamespacedName) metav1.Object
	put   func(*Objects, types.NamespacedName, metav1.Object)
	clone func(from, to *Objects)
}

// Group is that of most kinds.
const Group = "configuration.konghq.com"

// Kinds lists the kinds that count.
func Kinds() []Kind {
	clusterPlugin := kind(Group, "v1", "KongClusterPlugin", "kongclusterplugins", func(o *Objects) *Table[*KongPlugin] { return &o.ClusterPlugins })
	clusterPlugin.Cluster = true
	return []Kind{
		kind(Group, "v1", "KongPlugin", "kongplugins", func(o *Objects) *Table[*KongPlugin] { return &o.Plugins }),
		clusterPlugin,
		kind(Group, "v1", "KongConsumer", "kongconsumers", func(o *Objects) *Table[*KongConsumer] { return &o.Consumers }),
		kind(Group, "v1beta1", "KongConsumerGroup", "kongconsumergroups", func(o *Objects) *Table[*KongConsumerGroup] { return &o.ConsumerGroups }),
		kind(Group, "v1beta1", "KongUpstreamPolicy", "kongupstreampolicies", func(o *Objects) *Table[*KongUpstreamPolicy] { return &o.UpstreamPolicies }),
		kind(Group, "v1", "KongIngress", "kongingresses", func(o *Objects) *Table[*KongIngress] { return &o.KongIngresses }),
		kind(Group, "v1beta1", "TCPIngress", "tcpingresses", func(o *Objects) *Table[*TCPIngress] { return &o.TCPIngresses }),
		kind(Group, "v1beta1", "UDPIngress", "udpingresses", func(o *Objects) *Table[*UDPIngress] { return &o.UDPIngresses }),
		kind(Group, "v1alpha1", "IngressClassParameters", "ingressclassparameterses",
			func(o *Objects) *Table[*IngressClassParameters] { return &o.ClassParameters }),
		kind("incubator.ingress-controller.konghq.com", "v1alpha1", "KongServiceFacade", "kongservicefacades",
			func(o *Objects) *Table[*KongServiceFacade] { return &o.ServiceFacades }),
		kind("gateway.networking.k8s.io", "v1beta1", "ReferenceGrant", "referencegrants",
			func(o *Objects) *Table[*ReferenceGrant] { return &o.ReferenceGrants }),
	}
}

// kind makes a Kind of where its objects are kept.
func kind[T any, P interface {
	*T
	metav1.Object
}](group, version, name, plural string, table func(*Objects) *Table[P]) Kind {
	return Kind{
		Group: group, Version: version, Name: name, Plural: plural,
		New: func() metav1.Object { return P(new(T)) },
		get: func(o *Objects, key types.NamespacedName) metav1.Object {
			if object, found := (*table(o))[key]; found {
				return object
			}
			return nil
		},
		put: func(o *Objects, key types.NamespacedName, object metav1.Object) {
			t := table(o)
			if object == nil {
				delete(*t, key)
				return
			}
			if *t == nil {
				*t = Table[P]{}
			}
			(*t)[key] = object.(P)
		},
		clone: func(from, to *Objects) { *table(to) = maps.Clone(*table(from)) },
	}
}

// KindNamed gives the kind of that name.
func KindNamed(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// APIVersion gives "group/version".
func (k *Kind) APIVersion() string { return k.Group + "/" + k.Version }

// Resource names the kind in requests to the API server.
func (k *Kind) Resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Plural}
}

// HasAddresses tells whether status.loadBalancer of the objects says where clients come in.
func (k *Kind) HasAddresses() bool { return k.Name == "TCPIngress" || k.Name == "UDPIngress" }

// Decode reads an object of the kind from JSON. Fields that nobody reads are passed over.
func (k *Kind) Decode(text []byte) (metav1.Object, error) {
	object := k.New()
	if err := json.Unmarshal(text, object); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	return object, nil
}

// Get gives an object of the kind, or nil.
func (k *Kind) Get(o *Objects, key types.NamespacedName) metav1.Object { return k.get(o, k.key(key)) }

func (k *Kind) key(key types.NamespacedName) types.NamespacedName {
	if k.Cluster {
		key.Namespace = ""
	}
	return key
}

// Put puts an object of the kind into its table, or takes out the one of that name when object is nil. It is for those who make Objects.
func (o *Objects) Put(kind string, key types.NamespacedName, object metav1.Object) {
	k, known := KindNamed(kind)
	if !known {
		panic("kongapi: no table for kind " + kind)
	}
	k.put(o, k.key(key), object)
}

// Clone gives a copy with tables of its own.
func (o *Objects) Clone() *Objects {
	c := &Objects{}
	for _, k := range Kinds() {
		k.clone(o, c)
	}
	return c
}
