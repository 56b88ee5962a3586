// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// candidates are the endpoints of a Service port by what may become of them.
type candidates struct {
	ready    []endpoint
	spare    []endpoint // ready, of weight 0: they get requests only while no other is ready
	draining []endpoint // terminating, yet still serving: they get requests only while none is ready
}

// endpoint is one endpoint of a slice with the ports that count.
type endpoint struct {
	*discoveryv1.Endpoint
	ports  []uint16
	weight int
	far    bool // not hinted for the zone
}

// collect sorts out the endpoints of slices for a port of their Service.
func collect(endpointSlices []*discoveryv1.EndpointSlice, port *corev1.ServicePort) candidates {
	var c candidates
	for _, slice := range endpointSlices {
		if slice.AddressType == discoveryv1.AddressTypeFQDN {
			continue
		}
		ports := slicePorts(slice, port)
		if len(ports) == 0 {
			continue
		}
		weight, _ := weightOf(slice)
		for i := range slice.Endpoints {
			e := endpoint{Endpoint: &slice.Endpoints[i], ports: ports, weight: weight}
			switch ready := e.Conditions.Ready == nil || *e.Conditions.Ready; {
			case ready && weight > 0:
				c.ready = append(c.ready, e)
			case ready:
				c.spare = append(c.spare, e)
			case isTrue(e.Conditions.Serving) && isTrue(e.Conditions.Terminating):
				c.draining = append(c.draining, e)
			}
		}
	}
	return c
}

func isTrue(b *bool) bool { return b != nil && *b }

// slicePorts gives the ports of a slice that belong to a port of the Service and have its protocol: all when that has no name, else those of its
// name, else its target port if that is a number.
func slicePorts(slice *discoveryv1.EndpointSlice, port *corev1.ServicePort) []uint16 {
	var numbers []uint16
	protocol := protocolOf(port)
	for _, p := range slice.Ports {
		if p.Protocol == nil && protocol != corev1.ProtocolTCP || p.Protocol != nil && *p.Protocol != protocol {
			continue
		}
		if p.Port == nil || *p.Port < 1 || *p.Port > 65535 {
			continue
		}
		if port.Name == "" || p.Name != nil && *p.Name == port.Name {
			numbers = append(numbers, uint16(*p.Port))
		}
	}
	if len(numbers) == 0 && targetNumber(port) != 0 && (len(slice.Ports) == 0 || port.Name != "") {
		numbers = append(numbers, targetNumber(port))
	}
	return numbers
}

// addresses gives the addresses of endpoints, sorted and unique, and how many were refused as local.
func addresses(endpoints []endpoint, allowLocal bool) (list []model.Endpoint, refused int) {
	for _, e := range endpoints {
		for _, text := range e.Addresses {
			a, err := netip.ParseAddr(text)
			if err != nil {
				continue
			}
			if !allowLocal && model.IsLocalAddress(a) {
				refused++
				continue
			}
			for _, port := range e.ports {
				address := netip.AddrPortFrom(a.Unmap().WithZone(""), port)
				list = append(list, model.Endpoint{AddrPort: address, Weight: max(e.weight, 1), Far: e.far})
			}
		}
	}
	return sortEndpoints(list), refused
}

// sortEndpoints sorts in place and drops duplicates. An address that several slices have counts once, with the greatest of its weights, and as near if
// one says so.
func sortEndpoints(list []model.Endpoint) []model.Endpoint {
	slices.SortFunc(list, func(a, b model.Endpoint) int { return cmp.Or(a.Compare(b), cmp.Compare(b.Weight, a.Weight)) })
	for i := len(list) - 1; i > 0; i-- {
		if list[i-1].AddrPort == list[i].AddrPort && !list[i].Far {
			list[i-1].Far = false
		}
	}
	return slices.CompactFunc(list, func(a, b model.Endpoint) bool { return a.AddrPort == b.AddrPort })
}

// without gives the endpoints of a list whose addresses others do not have.
func without(list, others []model.Endpoint) []model.Endpoint {
	return slices.DeleteFunc(list, func(e model.Endpoint) bool {
		_, found := slices.BinarySearchFunc(others, e, model.Endpoint.Compare)
		return found
	})
}
