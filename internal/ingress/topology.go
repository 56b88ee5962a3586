// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// wantsTopology tells whether a Service asks for endpoints near to the client.
func wantsTopology(service *corev1.Service) bool {
	if strings.EqualFold(service.Annotations[corev1.AnnotationTopologyMode], "auto") {
		return true
	}
	d := service.Spec.TrafficDistribution
	return d != nil && (*d == corev1.ServiceTrafficDistributionPreferClose || *d == corev1.ServiceTrafficDistributionPreferSameZone)
}

// inZone gives the endpoints that are hinted for the zone. All are given when one has no hint, as the hints are then being changed, or
// when none is for the zone.
func inZone(endpoints []endpoint, zone string) []endpoint {
	var near []endpoint
	for _, e := range endpoints {
		if e.Hints == nil || len(e.Hints.ForZones) == 0 {
			return endpoints
		}
		for _, hint := range e.Hints.ForZones {
			if hint.Name == zone {
				near = append(near, e)
				break
			}
		}
	}
	if len(near) == 0 {
		return endpoints
	}
	return near
}
