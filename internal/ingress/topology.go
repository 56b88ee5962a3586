// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// wantsTopology tells whether a Service asks for endpoints near to the client.
func wantsTopology(service *corev1.Service) bool {
	if strings.EqualFold(service.Annotations[corev1.AnnotationTopologyMode], "auto") {
		return true
	}
	d := service.Spec.TrafficDistribution
	return d != nil && (*d == corev1.ServiceTrafficDistributionPreferClose || *d == corev1.ServiceTrafficDistributionPreferSameZone)
}

// markFar gives the endpoints with those marked that are not hinted for the zone. None is when one has no hint, as the hints are then being
// changed, or when none is for the zone.
func markFar(endpoints []endpoint, zone string) []endpoint {
	marked := make([]endpoint, len(endpoints))
	near := 0
	for i, e := range endpoints {
		if e.Hints == nil || len(e.Hints.ForZones) == 0 {
			return endpoints
		}
		e.far = !slices.ContainsFunc(e.Hints.ForZones, func(hint discoveryv1.ForZone) bool { return hint.Name == zone })
		if !e.far {
			near++
		}
		marked[i] = e
	}
	if near == 0 {
		return endpoints
	}
	return marked
}
