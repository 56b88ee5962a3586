// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// assemble makes a snapshot of all files. Of an object that stands in two places the first wins, by name of file and then by line.
func (s *Source) assemble() *source.Snapshot {
	snapshot := &source.Snapshot{
		IngressClasses: map[string]*netv1.IngressClass{},
		Services:       map[source.Key]*corev1.Service{},
		EndpointSlices: map[source.Key][]*discoveryv1.EndpointSlice{},
		Secrets:        map[source.Key]*corev1.Secret{},
		ConfigMaps:     map[source.Key]*corev1.ConfigMap{},
		Namespaces:     map[string]*corev1.Namespace{},
		Nodes:          map[string]*corev1.Node{},
		Faults:         slices.Clone(s.unread),
	}
	if s.kong {
		snapshot.Kong = &kongapi.Objects{}
	}
	first := map[string]*object{}
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		snapshot.Faults = append(snapshot.Faults, s.files[path].faults...)
		for _, o := range s.files[path].objects {
			name := o.kind + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
			if other := first[name]; other != nil {
				snapshot.Faults = append(snapshot.Faults, source.Fault{File: o.file, Line: o.line, Message: fmt.Sprintf(
					"%s stands already in %s, line %d, which is the one in force; remove one of them", name, other.file, other.line)})
				continue
			}
			first[name] = o
			put(snapshot, o)
		}
	}
	slices.SortFunc(snapshot.Ingresses, source.Older)
	for _, list := range snapshot.EndpointSlices {
		slices.SortFunc(list, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	}
	return snapshot
}

func put(snapshot *source.Snapshot, o *object) {
	key := source.Key{Namespace: o.GetNamespace(), Name: o.GetName()}
	switch v := o.Object.(type) {
	case *netv1.Ingress:
		snapshot.Ingresses = append(snapshot.Ingresses, v)
	case *netv1.IngressClass:
		snapshot.IngressClasses[v.Name] = v
	case *corev1.Service:
		snapshot.Services[key] = v
	case *discoveryv1.EndpointSlice:
		service := source.Key{Namespace: v.Namespace, Name: v.Labels[discoveryv1.LabelServiceName]}
		snapshot.EndpointSlices[service] = append(snapshot.EndpointSlices[service], v)
	case *corev1.Secret:
		snapshot.Secrets[key] = v
	case *corev1.ConfigMap:
		snapshot.ConfigMaps[key] = v
	case *corev1.Namespace:
		snapshot.Namespaces[v.Name] = v
	case *corev1.Node:
		snapshot.Nodes[v.Name] = v
	default:
		snapshot.Kong.Put(o.kind, key, v)
	}
}
