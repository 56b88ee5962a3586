// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// findPort gives the first TCP port of a Service whose number, target port or name is the text, or nil.
func findPort(service *corev1.Service, text string) *corev1.ServicePort {
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		if p.Protocol != "" && p.Protocol != corev1.ProtocolTCP {
			continue
		}
		if strconv.Itoa(int(p.Port)) == text || p.Name == text || p.TargetPort.String() == text {
			return p
		}
	}
	return nil
}

// targetNumber gives the target port if it is a number, else 0.
func targetNumber(p *corev1.ServicePort) uint16 {
	if p.TargetPort.Type != intstr.Int || p.TargetPort.IntVal < 1 || p.TargetPort.IntVal > 65535 {
		return 0
	}
	return uint16(p.TargetPort.IntVal)
}
