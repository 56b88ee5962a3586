// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"net/netip"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// externalName gives the DNS name that an ExternalName Service stands for, in lower case, or why it is refused. An IP address literal is
// given as name too.
func externalName(service *corev1.Service, options *Options) (name, why string) {
	name = strings.ToLower(service.Spec.ExternalName)
	bare := strings.TrimSuffix(name, ".")
	switch a, err := netip.ParseAddr(name); {
	case options.DisableExternalName:
		return "", "--disable-svc-external-name refuses Services of type ExternalName"
	case err == nil && a.Zone() != "":
		return "", "the external name is an address with a zone"
	case err == nil && model.IsLocalAddress(a) && !options.AllowLocalEndpoints:
		return "", "the external name is a local address"
	case err == nil:
		return name, ""
	case !options.AllowLocalEndpoints && (bare == "localhost" || strings.HasSuffix(bare, ".localhost")):
		return "", "the external name is the proxy's own host"
	case !isHostName(strings.ReplaceAll(bare, "_", "-")) || strings.HasPrefix(bare, "*"):
		return "", "the external name is no DNS name"
	}
	return name, ""
}

// externalPort gives the port to connect to: the target of the port of the Service, or, for routes, the number itself; 0 if there is none.
func externalPort(service *corev1.Service, id model.BackendID) uint16 {
	if p := portOf(service, id); p != nil {
		if n := targetNumber(p); n != 0 {
			return n
		}
		return uint16(p.Port)
	}
	n, err := strconv.ParseUint(id.Port, 10, 16)
	if err != nil || id.Transport != 0 {
		return 0
	}
	return uint16(n)
}

// resolve gives the endpoints of an external name: itself if it is an address, else what DNS answered.
func resolve(name string, answers []netip.Addr, port uint16, allowLocal bool) (list []model.Endpoint, refused int) {
	if a, err := netip.ParseAddr(name); err == nil {
		answers = []netip.Addr{a}
	}
	for _, a := range answers {
		if !allowLocal && model.IsLocalAddress(a) {
			refused++
			continue
		}
		list = append(list, model.NewEndpoint(netip.AddrPortFrom(a.Unmap().WithZone(""), port)))
	}
	return sortEndpoints(list), refused
}
