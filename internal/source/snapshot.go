// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package source defines the Snapshot: the Kubernetes objects that Fairway works from, as they were at one moment.
//
// Two packages make snapshots: source/kube from an API server, source/manifests from files. Both promise the same: a
// snapshot and everything in it is never modified after it was given out, an object that did not change is the same
// pointer in the next snapshot, and making one costs no more than what changed. What the objects mean is
// not decided here, but in packages ingress and settings.
package source

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// Key names an object of a known kind by namespace and name.
type Key = types.NamespacedName

// Snapshot holds the objects of one moment. Tables may be nil. Nothing in it may be modified.
type Snapshot struct {
	// Ingresses are sorted by age as the predecessor sorts them: see Older.
	Ingresses []*netv1.Ingress
	// IngressClasses are nil when they may not be read.
	IngressClasses map[string]*netv1.IngressClass
	Services       map[Key]*corev1.Service
	// EndpointSlices are those of each Service, by its key, sorted by name.
	EndpointSlices map[Key][]*discoveryv1.EndpointSlice
	// Secrets and ConfigMaps hold at least those that an accepted Ingress or a flag names; others may be missing.
	Secrets    map[Key]*corev1.Secret
	ConfigMaps map[Key]*corev1.ConfigMap
	Namespaces map[string]*corev1.Namespace
	// Nodes are empty unless a feature needs them.
	Nodes map[string]*corev1.Node
	// Addresses are what DNS answered for the names of ExternalName Services. A name that is not here has not been
	// looked up yet or does not resolve.
	Addresses map[string][]netip.Addr
	// Refused are raw configurations that the data plane does not take, each with its reason.
	Refused map[string]string
	// Kong are the custom resources of a Kong Gateway; nil when the data plane is none.
	Kong *kongapi.Objects
	// Faults are what could not be read: files, not objects.
	Faults []Fault
}

// WithAddresses gives a copy with other Addresses.
func (s *Snapshot) WithAddresses(addresses map[string][]netip.Addr) *Snapshot {
	c := *s
	c.Addresses = addresses
	return &c
}

// WithRefused gives a copy with other Refused.
func (s *Snapshot) WithRefused(refused map[string]string) *Snapshot {
	c := *s
	c.Refused = refused
	return &c
}

// Fault is a place in a file that could not be read as an object. The last good content of the file stays in force.
type Fault struct {
	File    string
	Line    int // 1 is the first; 0 when unknown
	Message string
}

// Older orders Ingresses the way the predecessor does, which decides who wins a conflict: by creation time in whole seconds, and at equal
// times by "namespace/name" descending. It gives a negative number when a is older.
func Older(a, b *netv1.Ingress) int {
	if t, u := a.CreationTimestamp.Unix(), b.CreationTimestamp.Unix(); t != u {
		if t < u {
			return -1
		}
		return 1
	}
	x, y := a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name
	switch {
	case x > y:
		return -1
	case x < y:
		return 1
	}
	return 0
}
