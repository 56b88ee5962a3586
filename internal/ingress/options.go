// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fairway-ingress/fairway/internal/source"
)

// Options are the flags that decide which objects count and what they mean.
type Options struct {
	// ControllerClass is what spec.controller of an IngressClass must say; empty means DefaultControllerClass.
	ControllerClass string
	// IngressClass is the value of the annotation kubernetes.io/ingress.class, and the name of the class of IngressClassByName; empty means
	// DefaultIngressClass.
	IngressClass string
	// AnnotationsPrefix stands before each annotation key; empty means annotation.DefaultPrefix.
	AnnotationsPrefix string
	// IngressClassByName takes the class named IngressClass whatever its controller.
	IngressClassByName bool
	// WatchWithoutClass takes Ingresses that name no class.
	WatchWithoutClass bool
	// DisableCatchAll refuses Ingresses that have a spec.defaultBackend.
	DisableCatchAll bool
	// DisableExternalName refuses Services of type ExternalName.
	DisableExternalName bool
	// AllowLocalEndpoints lets endpoints be loopback, link-local and metadata addresses. It is meant for tests and demos.
	AllowLocalEndpoints bool
	// TopologyAware prefers endpoints that are hinted for Zone, for the Services that ask for it.
	TopologyAware bool
	Zone          string
	// Passthrough takes note of Ingresses that leave TLS to their backend; without it the annotation has no effect.
	Passthrough bool
	// WatchNamespace, when not empty, takes Ingresses of that namespace alone.
	WatchNamespace string
	// NamespaceSelector, when not nil, takes Ingresses of namespaces with matching labels alone.
	NamespaceSelector labels.Selector
	// LenientAnnotations lets the admission webhook only warn of values that do not parse.
	LenientAnnotations bool
	// DeepInspect lets the admission webhook refuse hosts, paths and names of Secrets with text that is known from attacks on nginx.
	DeepInspect bool
	// DefaultBackend names the Service whose first port answers what no route matches; zero for the built-in page.
	DefaultBackend source.Key
	// DefaultCertificate names the Secret of the certificate for clients that no other is for; zero for a self-signed one.
	DefaultCertificate source.Key
	// SecretsLimit says, for the messages of Problems, which Secrets alone are looked at; empty for all.
	SecretsLimit string
	// ConfigMap names the ConfigMap of the settings; zero for the defaults.
	ConfigMap source.Key
	// TCPServices and UDPServices name the ConfigMaps of TCP and UDP services; zero for none.
	TCPServices, UDPServices source.Key
	// ReservedPorts are the TCP ports that flags give to others, with the flag.
	ReservedPorts map[uint16]string
}

// The predecessor's names, so that existing objects keep working.
const (
	DefaultControllerClass = "k8s.io/ingress-nginx"
	DefaultIngressClass    = "nginx"
)
