// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongapi

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// IngressClassParameters are settings of an IngressClass.
type IngressClassParameters struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ClassParameters `json:"spec,omitempty"`
}

// ClassParameters is the spec of IngressClassParameters.
type ClassParameters struct {
	// ServiceUpstream takes the address of a Service itself as the only endpoint.
	ServiceUpstream bool `json:"serviceUpstream,omitempty"`
	// EnableLegacyRegexDetection takes ImplementationSpecific paths with other than plain characters for expressions.
	EnableLegacyRegexDetection bool `json:"enableLegacyRegexDetection,omitempty"`
}

// KongServiceFacade is another name of a Service, with annotations of its own; the resource backend of Ingresses.
type KongServiceFacade struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ServiceFacade `json:"spec,omitempty"`
}

// ServiceFacade is the spec of a KongServiceFacade.
type ServiceFacade struct {
	BackendRef FacadeBackend `json:"backendRef"`
}

// FacadeBackend is a port of a Service in the namespace.
type FacadeBackend struct {
	Name string `json:"name"`
	Port int    `json:"port"`
}

// ReferenceGrant lets objects of other namespaces name objects of its own (gateway.networking.k8s.io).
type ReferenceGrant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GrantSpec `json:"spec,omitempty"`
}

// GrantSpec says who may name what.
type GrantSpec struct {
	From []GrantFrom `json:"from,omitempty"`
	To   []GrantTo   `json:"to,omitempty"`
}

// GrantFrom are the objects of a kind in a namespace.
type GrantFrom struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
}

// GrantTo are the objects of a kind, or the one of that name.
type GrantTo struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name,omitempty"`
}
