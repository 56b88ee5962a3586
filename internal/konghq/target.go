// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// fullWeight is the weight of a target that takes requests.
const fullWeight = 100

// serviceUpstream takes the address of a Service itself as its only endpoint.
const serviceUpstream = "ingress.kubernetes.io/service-upstream"

// findPort gives the first port of a Service, for the transport, whose number, name or target port is the text; nil for none.
func findPort(service *corev1.Service, text string, transport model.KongTransport) *corev1.ServicePort {
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		if cmp.Or(p.Protocol, corev1.ProtocolTCP) != protocolOf(transport) {
			continue
		}
		if strconv.Itoa(int(p.Port)) == text || p.Name == text || p.TargetPort.Type == intstr.String && p.TargetPort.StrVal == text {
			return p
		}
	}
	return nil
}

func protocolOf(transport model.KongTransport) corev1.Protocol {
	if transport == model.KongOverUDP {
		return corev1.ProtocolUDP
	}
	return corev1.ProtocolTCP
}

// addTargets finds the addresses that serve. Port is nil for an ExternalName Service that lists none.
func (r *run) addTargets(s *model.KongService, object *corev1.Service, port *corev1.ServicePort, text string, u use) {
	external := object.Spec.Type == corev1.ServiceTypeExternalName
	switch {
	case (s.ID.Virtual || r.isOwnEndpoint(object)) && port != nil:
		name := object.Name + "." + object.Namespace + ".svc"
		if r.ClusterDomain != "" {
			name += "." + r.ClusterDomain
		}
		s.Targets = []model.KongTarget{{Address: name + ":" + strconv.Itoa(int(port.Port)), Weight: fullWeight}}
	case external:
		r.addExternalName(s, object, port, text, u)
	default:
		r.addEndpoints(s, r.findSlices(source.Key{Namespace: object.Namespace, Name: object.Name}), port)
	}
	if len(s.Targets) == 0 && !external {
		r.problem(u.owner, u.field, model.ReasonNoEndpoints, "the Service %s/%s has no endpoint that is ready for port %s; its routes answer 503",
			object.Namespace, object.Name, text)
	}
}

func (r *run) isOwnEndpoint(object *corev1.Service) bool {
	if text, written := object.Annotations[serviceUpstream]; written {
		return text == "true"
	}
	for _, parameters := range r.ownClasses {
		if parameters.ServiceUpstream {
			return true
		}
	}
	return false
}

func (r *run) addExternalName(s *model.KongService, object *corev1.Service, port *corev1.ServicePort, text string, u use) {
	name := strings.TrimSuffix(strings.ToLower(object.Spec.ExternalName), ".")
	number := text
	if port != nil {
		number = strconv.Itoa(int(port.Port))
	}
	address, err := netip.ParseAddr(name)
	_, badPort := strconv.ParseUint(number, 10, 16)
	why := ""
	switch {
	case r.DisableExternalName:
		why = "--disable-svc-external-name refuses Services of type ExternalName"
	case badPort != nil:
		why = "the port must be a number"
	case err == nil && !r.AllowLocalEndpoints && (model.IsLocalAddress(address) || address.Zone() != ""):
		why = "the external name is a local address"
	case err != nil && (name == "localhost" || strings.HasSuffix(name, ".localhost")) && !r.AllowLocalEndpoints:
		why = "the external name is the gateway's own host"
	case err != nil && (!isHost(strings.ReplaceAll(name, "_", "-")) || strings.HasPrefix(name, "*")):
		why = "the external name is no DNS name"
	}
	if why != "" {
		r.problem(u.owner, u.field, model.ReasonInvalidBackend, "the Service %s/%s cannot be used: %s; its routes answer 503", object.Namespace,
			object.Name, why)
		return
	}
	if address.Is6() {
		name = "[" + name + "]"
	}
	s.Port, _ = strconv.Atoi(number)
	s.Targets = []model.KongTarget{{Address: name + ":" + number, Weight: fullWeight}}
}

// addEndpoints takes the endpoints that are ready, and those that end and still serve without weight.
func (r *run) addEndpoints(s *model.KongService, endpointSlices []*discoveryv1.EndpointSlice, port *corev1.ServicePort) {
	weights := map[netip.AddrPort]int{}
	for _, slice := range endpointSlices {
		if slice.AddressType == discoveryv1.AddressTypeFQDN {
			continue
		}
		for _, number := range slicePorts(slice, port) {
			for i := range slice.Endpoints {
				r.weigh(weights, &slice.Endpoints[i], number)
			}
		}
	}
	for address, weight := range weights {
		s.Targets = append(s.Targets, model.KongTarget{Address: address.String(), Weight: weight})
	}
	slices.SortFunc(s.Targets, func(a, b model.KongTarget) int { return cmp.Compare(a.Address, b.Address) })
}

// weigh adds the addresses of an endpoint. One that is ready in one slice counts, whatever another says of it.
func (r *run) weigh(weights map[netip.AddrPort]int, e *discoveryv1.Endpoint, port uint16) {
	weight := 0
	switch {
	case e.Conditions.Ready == nil || *e.Conditions.Ready:
		weight = fullWeight
	case !r.KeepDraining || !isTrue(e.Conditions.Serving) || !isTrue(e.Conditions.Terminating):
		return
	}
	for _, text := range e.Addresses {
		address, err := netip.ParseAddr(text)
		if err != nil || !r.AllowLocalEndpoints && model.IsLocalAddress(address) {
			continue
		}
		at := netip.AddrPortFrom(address.Unmap().WithZone(""), port)
		weights[at] = max(weights[at], weight)
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// slicePorts gives the ports of a slice that belong to a port of its Service.
func slicePorts(slice *discoveryv1.EndpointSlice, port *corev1.ServicePort) []uint16 {
	var numbers []uint16
	for _, p := range slice.Ports {
		protocol := corev1.ProtocolTCP
		if p.Protocol != nil {
			protocol = *p.Protocol
		}
		if protocol != cmp.Or(port.Protocol, corev1.ProtocolTCP) || p.Port == nil || *p.Port < 1 || *p.Port > 65535 {
			continue
		}
		if port.Name == "" || p.Name != nil && *p.Name == port.Name {
			numbers = append(numbers, uint16(*p.Port))
		}
	}
	return numbers
}
