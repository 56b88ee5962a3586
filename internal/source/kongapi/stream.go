// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongapi

import (
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TCPIngress sends connections to Services.
type TCPIngress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              StreamSpec   `json:"spec,omitempty"`
	Status            StreamStatus `json:"status,omitempty"`
}

// UDPIngress sends datagrams to Services. Its rules have no host and it has no tls.
type UDPIngress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              StreamSpec   `json:"spec,omitempty"`
	Status            StreamStatus `json:"status,omitempty"`
}

// StreamSpec is the spec of a TCPIngress or UDPIngress.
type StreamSpec struct {
	Rules []StreamRule `json:"rules,omitempty"`
	TLS   []StreamTLS  `json:"tls,omitempty"`
}

// StreamRule sends what arrives at a port of the gateway, over TLS for a host when one is given, to a Service.
type StreamRule struct {
	Host    string        `json:"host,omitempty"`
	Port    int           `json:"port,omitempty"`
	Backend StreamBackend `json:"backend"`
}

// StreamBackend is a port of a Service in the namespace.
type StreamBackend struct {
	ServiceName string `json:"serviceName"`
	ServicePort int    `json:"servicePort"`
}

// StreamTLS is the certificate of hosts.
type StreamTLS struct {
	Hosts      []string `json:"hosts,omitempty"`
	SecretName string   `json:"secretName,omitempty"`
}

// StreamStatus is where clients come in.
type StreamStatus struct {
	LoadBalancer netv1.IngressLoadBalancerStatus `json:"loadBalancer,omitempty"`
}
