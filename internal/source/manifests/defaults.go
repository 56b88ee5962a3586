// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// setDefaults fills in what an API server would have filled in, as far as Fairway looks at it.
func setDefaults(o metav1.Object) {
	switch o := o.(type) {
	case *corev1.Service:
		defaultService(o)
	case *corev1.Secret:
		if o.Type == "" {
			o.Type = corev1.SecretTypeOpaque
		}
		for key, text := range o.StringData {
			if o.Data == nil {
				o.Data = map[string][]byte{}
			}
			o.Data[key] = []byte(text)
		}
		o.StringData = nil
	case *discoveryv1.EndpointSlice:
		defaultSlice(o)
	}
}

func defaultService(s *corev1.Service) {
	if s.Spec.Type == "" {
		s.Spec.Type = corev1.ServiceTypeClusterIP
	}
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if p.Protocol == "" {
			p.Protocol = corev1.ProtocolTCP
		}
		if p.TargetPort == (intstr.IntOrString{}) {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
}

func defaultSlice(s *discoveryv1.EndpointSlice) {
	if s.AddressType == "" {
		s.AddressType = discoveryv1.AddressTypeIPv4
	}
	name, protocol := "", corev1.ProtocolTCP
	for i := range s.Ports {
		if s.Ports[i].Name == nil {
			s.Ports[i].Name = &name
		}
		if s.Ports[i].Protocol == nil {
			s.Ports[i].Protocol = &protocol
		}
	}
}
