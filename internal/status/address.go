// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
)

// Addresses are what an Ingress says in status.loadBalancer.ingress: sorted, without duplicates and without ports.
type Addresses []netv1.IngressLoadBalancerIngress

// Parse gives the addresses of a comma-separated list: IP addresses, and names for whatever is none.
func Parse(text string) Addresses {
	var list Addresses
	for item := range strings.SplitSeq(text, ",") {
		list = list.with(strings.TrimSpace(item))
	}
	return list.sorted()
}

// OfService gives the addresses by which a Service is reached, by the rules of the predecessor.
func OfService(s *corev1.Service) Addresses {
	var list Addresses
	switch s.Spec.Type {
	case corev1.ServiceTypeExternalName:
		list = list.with(s.Spec.ExternalName)
	case corev1.ServiceTypeClusterIP:
		list = list.withClusterIP(s)
	case corev1.ServiceTypeNodePort:
		if len(s.Spec.ExternalIPs) == 0 {
			list = list.withClusterIP(s)
		}
		list = list.with(s.Spec.ExternalIPs...)
	case corev1.ServiceTypeLoadBalancer:
		for _, i := range s.Status.LoadBalancer.Ingress {
			if i.IP != "" || i.Hostname != "" {
				list = append(list, netv1.IngressLoadBalancerIngress{IP: i.IP, Hostname: i.Hostname})
			}
		}
		list = list.with(s.Spec.ExternalIPs...)
	}
	return list.sorted()
}

// OfNodes gives the external addresses of nodes, and the internal ones of those that have no external one, or of all if internal.
func OfNodes(nodes []*corev1.Node, internal bool) Addresses {
	var list Addresses
	for _, node := range nodes {
		found := addressesOf(node, corev1.NodeExternalIP)
		if internal || len(found) == 0 {
			found = addressesOf(node, corev1.NodeInternalIP)
		}
		list = list.with(found...)
	}
	return list.sorted()
}

func addressesOf(node *corev1.Node, kind corev1.NodeAddressType) []string {
	var list []string
	for _, a := range node.Status.Addresses {
		if a.Type == kind && a.Address != "" {
			list = append(list, a.Address)
		}
	}
	return list
}

func (a Addresses) withClusterIP(s *corev1.Service) Addresses {
	if s.Spec.ClusterIP == corev1.ClusterIPNone {
		return a
	}
	return a.with(s.Spec.ClusterIP)
}

// with adds addresses and names; empty ones are left out.
func (a Addresses) with(items ...string) Addresses {
	for _, item := range items {
		if item == "" {
			continue
		}
		if _, err := netip.ParseAddr(item); err == nil {
			a = append(a, netv1.IngressLoadBalancerIngress{IP: item})
		} else {
			a = append(a, netv1.IngressLoadBalancerIngress{Hostname: item})
		}
	}
	return a
}

func (a Addresses) sorted() Addresses {
	slices.SortFunc(a, compare)
	return slices.CompactFunc(a, func(x, y netv1.IngressLoadBalancerIngress) bool { return compare(x, y) == 0 })
}

func compare(x, y netv1.IngressLoadBalancerIngress) int {
	return cmp.Or(cmp.Compare(x.Hostname, y.Hostname), cmp.Compare(x.IP, y.IP))
}

// same tells whether an Ingress says just these addresses, in whatever order.
func (a Addresses) same(status netv1.IngressLoadBalancerStatus) bool {
	if len(a) != len(status.Ingress) {
		return false
	}
	for _, i := range status.Ingress {
		if len(i.Ports) > 0 {
			return false
		}
		if _, found := slices.BinarySearchFunc(a, i, compare); !found {
			return false
		}
	}
	return true
}

// String lists the addresses for logs.
func (a Addresses) String() string {
	if len(a) == 0 {
		return "none"
	}
	var words []string
	for _, i := range a {
		words = append(words, cmp.Or(i.IP, i.Hostname))
	}
	return strings.Join(words, ", ")
}
