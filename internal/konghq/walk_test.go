// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// walk is a cluster whose objects come and go.
type walk struct {
	random  *rand.Rand
	options *testCase
	pool    []metav1.Object // all that there may be
	present map[int]metav1.Object
	slices  map[source.Key][]*discoveryv1.EndpointSlice
	last    *source.Snapshot // nil when objects have changed since
}

func newWalk(t *testing.T, random *rand.Rand, files []string) *walk {
	w := &walk{random: random, present: map[int]metav1.Object{}, slices: map[source.Key][]*discoveryv1.EndpointSlice{}}
	for _, file := range files {
		c := readCase(t, golden.Read(t, file))
		if w.options == nil || w.options.DefaultBackend.Name == "" {
			w.options = c
		}
		w.fill(c.snapshot)
	}
	for i, o := range w.pool {
		w.present[i] = o
	}
	return w
}

// fill adds the objects of a snapshot to the pool, in an order of their own.
func (w *walk) fill(s *source.Snapshot) {
	add := func(objects []metav1.Object) {
		slices.SortFunc(objects, func(a, b metav1.Object) int {
			return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
		})
		w.pool = append(w.pool, objects...)
	}
	for _, o := range s.Ingresses {
		w.pool = append(w.pool, o)
	}
	add(values(s.IngressClasses))
	add(values(s.Services))
	add(values(s.Secrets))
	add(values(s.ConfigMaps))
	maps.Copy(w.slices, s.EndpointSlices)
	k := s.Kong
	for _, table := range [][]metav1.Object{
		values(k.Plugins), values(k.ClusterPlugins), values(k.Consumers), values(k.ConsumerGroups), values(k.UpstreamPolicies), values(k.KongIngresses),
		values(k.TCPIngresses), values(k.UDPIngresses), values(k.ClassParameters), values(k.ServiceFacades), values(k.ReferenceGrants),
	} {
		add(table)
	}
}

func values[K comparable, T metav1.Object](table map[K]T) []metav1.Object {
	var list []metav1.Object
	for _, o := range table {
		list = append(list, o)
	}
	return list
}

// step changes endpoints, an object, or both.
func (w *walk) step() {
	keys := slices.SortedFunc(maps.Keys(w.slices), func(a, b source.Key) int { return strings.Compare(a.String(), b.String()) })
	if len(keys) > 0 && w.random.IntN(3) > 0 {
		key := keys[w.random.IntN(len(keys))]
		w.slices[key] = w.changedSlices(w.slices[key])
	}
	if w.random.IntN(2) == 0 {
		w.change()
	}
}

// change changes an object, takes it away or brings it back.
func (w *walk) change() {
	w.last = nil
	i := w.random.IntN(len(w.pool))
	switch old := w.present[i]; {
	case old == nil:
		w.present[i] = w.pool[i]
	case w.random.IntN(3) == 0:
		delete(w.present, i)
	default:
		w.present[i] = w.changed(old)
	}
}

// changed gives a copy with the annotations, the age or the content of another.
func (w *walk) changed(old metav1.Object) metav1.Object {
	object := deepCopy(old)
	other := w.pool[w.random.IntN(len(w.pool))]
	switch w.random.IntN(4) {
	case 0: // equal, but another object
	case 1:
		object.SetCreationTimestamp(other.GetCreationTimestamp())
	case 2:
		annotations := maps.Clone(object.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		for key, value := range other.GetAnnotations() {
			if w.random.IntN(2) == 0 {
				annotations[key] = value
			}
		}
		for key := range annotations {
			if w.random.IntN(4) == 0 && key != "kubernetes.io/ingress.class" {
				delete(annotations, key)
			}
		}
		object.SetAnnotations(annotations)
	case 3:
		w.exchange(object, other)
	}
	return object
}

// exchange gives an object the content of another of its kind.
func (w *walk) exchange(object, other metav1.Object) {
	switch o := object.(type) {
	case *netv1.Ingress:
		if from, ok := other.(*netv1.Ingress); ok {
			o.Spec.Rules, o.Spec.TLS = from.Spec.Rules, from.Spec.TLS
		} else if len(o.Spec.Rules) > 0 {
			o.Spec.Rules[0].Host = []string{"", "a.example", "*.example", "b.example"}[w.random.IntN(4)]
		}
	case *corev1.Service:
		if from, ok := other.(*corev1.Service); ok {
			o.Spec = from.Spec
		}
	case *corev1.Secret:
		if from, ok := other.(*corev1.Secret); ok {
			o.Data = from.Data
		}
	case *kongapi.KongUpstreamPolicy:
		o.Spec.Slots = 100 + w.random.IntN(100)
	case *kongapi.KongPlugin:
		if from, ok := other.(*kongapi.KongPlugin); ok {
			o.Plugin, o.Config, o.ConfigFrom = from.Plugin, from.Config, from.ConfigFrom
		}
	}
}

// deepCopy copies an object; of most kinds metadata alone is changed.
func deepCopy(object metav1.Object) metav1.Object {
	switch o := object.(type) {
	case *netv1.Ingress:
		return o.DeepCopy()
	case *corev1.Service:
		return o.DeepCopy()
	case *corev1.Secret:
		return o.DeepCopy()
	}
	c := reflect.New(reflect.TypeOf(object).Elem())
	c.Elem().Set(reflect.ValueOf(object).Elem())
	return c.Interface().(metav1.Object)
}

func (w *walk) changedSlices(list []*discoveryv1.EndpointSlice) []*discoveryv1.EndpointSlice {
	var out []*discoveryv1.EndpointSlice
	for _, s := range list {
		s = s.DeepCopy()
		ready := w.random.IntN(2) == 0
		for i := range s.Endpoints {
			s.Endpoints[i].Conditions.Ready = &ready
		}
		out = append(out, s)
	}
	return out
}

// snapshot gives the objects of this moment. It shares the tables that did not change with the last one, as those of a source do.
func (w *walk) snapshot() *source.Snapshot {
	if w.last != nil {
		s := *w.last
		s.EndpointSlices = maps.Clone(w.slices)
		return &s
	}
	s := &source.Snapshot{
		IngressClasses: map[string]*netv1.IngressClass{}, Services: map[source.Key]*corev1.Service{},
		EndpointSlices: maps.Clone(w.slices), Secrets: map[source.Key]*corev1.Secret{},
		ConfigMaps: map[source.Key]*corev1.ConfigMap{}, Namespaces: map[string]*corev1.Namespace{}, Kong: &kongapi.Objects{},
	}
	for i := range w.pool {
		object := w.present[i]
		if object == nil {
			continue
		}
		key := source.Key{Namespace: object.GetNamespace(), Name: object.GetName()}
		switch o := object.(type) {
		case *netv1.Ingress:
			if !slices.ContainsFunc(s.Ingresses, func(i *netv1.Ingress) bool { return i.Namespace == o.Namespace && i.Name == o.Name }) {
				s.Ingresses = append(s.Ingresses, o)
			}
		case *netv1.IngressClass:
			s.IngressClasses[o.Name] = o
		case *corev1.Service:
			s.Services[key] = o
		case *corev1.Secret:
			s.Secrets[key] = o
		case *corev1.ConfigMap:
			s.ConfigMaps[key] = o
		default:
			s.Kong.Put(kindOf(object), key, o)
		}
	}
	slices.SortFunc(s.Ingresses, source.Older)
	w.last = s
	return s
}

func kindOf(object metav1.Object) string {
	switch o := object.(type) {
	case *kongapi.KongPlugin:
		if o.Namespace == "" {
			return "KongClusterPlugin"
		}
	}
	name := fmt.Sprintf("%T", object)
	return name[strings.LastIndexByte(name, '.')+1:]
}
