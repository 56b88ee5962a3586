// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fairway-ingress/fairway/internal/model"
)

// findPort gives the first TCP port of a Service whose number, target port or name is the text, or nil.
func findPort(service *corev1.Service, text string) *corev1.ServicePort {
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		if protocolOf(p) != corev1.ProtocolTCP {
			continue
		}
		if strconv.Itoa(int(p.Port)) == text || p.Name == text || p.TargetPort.String() == text {
			return p
		}
	}
	return nil
}

// portOf gives the port of a Service that a backend is of, or nil. That of a listener is told by its number or name alone.
func portOf(service *corev1.Service, id model.BackendID) *corev1.ServicePort {
	if id.Transport == 0 {
		return findPort(service, id.Port)
	}
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		if string(protocolOf(p)) == id.Transport.String() && (strconv.Itoa(int(p.Port)) == id.Port || p.Name == id.Port) {
			return p
		}
	}
	return nil
}

// protocolOf gives the protocol of a port, TCP where it says none.
func protocolOf(p *corev1.ServicePort) corev1.Protocol { return cmp.Or(p.Protocol, corev1.ProtocolTCP) }

// targetNumber gives the target port if it is a number, else 0.
func targetNumber(p *corev1.ServicePort) uint16 {
	if p.TargetPort.Type != intstr.Int || p.TargetPort.IntVal < 1 || p.TargetPort.IntVal > 65535 {
		return 0
	}
	return uint16(p.TargetPort.IntVal)
}
