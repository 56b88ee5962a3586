// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/source"
)

// classFlags decide which objects count and what they mean. All commands that build a model have them.
type classFlags struct {
	controllerClass, ingressClass, annotationsPrefix              string
	byName, withoutClass, disableCatchAll, disableExternal, local bool
	topology                                                      bool
	namespace                                                     string
	selector                                                      selectorFlag
	configMap, defaultBackend, defaultCertificate                 keyFlag
	listenerFlags
}

func (f *classFlags) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.controllerClass, "controller-class", ingress.DefaultControllerClass, "spec.controller of the IngressClasses that are ours")
	flags.StringVar(&f.ingressClass, "ingress-class", ingress.DefaultIngressClass, "value of the annotation kubernetes.io/ingress.class that is ours")
	flags.BoolVar(&f.byName, "ingress-class-by-name", false, "also take the IngressClass named like --ingress-class, whatever its controller")
	flags.BoolVar(&f.withoutClass, "watch-ingress-without-class", false, "also take Ingresses that name no class")
	flags.BoolVar(&f.disableCatchAll, "disable-catch-all", false, "refuse Ingresses with a spec.defaultBackend")
	flags.BoolVar(&f.disableExternal, "disable-svc-external-name", false, "refuse Services of type ExternalName")
	flags.BoolVar(&f.topology, "enable-topology-aware-routing", false, "prefer endpoints hinted for the zone of the controller's node")
	flags.StringVar(&f.annotationsPrefix, "annotations-prefix", annotation.DefaultPrefix, "prefix of the annotations")
	flags.StringVar(&f.namespace, "watch-namespace", "", "take objects of this namespace alone; empty for all")
	flags.Var(&f.selector, "watch-namespace-selector", "take Ingresses of namespaces with matching labels alone")
	flags.Var(&f.configMap, "configmap", "namespace/name of the ConfigMap with the settings")
	f.listenerFlags.add(flags)
	flags.Var(&f.defaultBackend, "default-backend-service", "namespace/name of the Service that answers what no route matches; its first port is used")
	flags.Var(&f.defaultCertificate, "default-ssl-certificate", "namespace/name of the Secret with the certificate for names that have none")
	flags.BoolVar(&f.local, "allow-local-endpoints", false, "let endpoints be loopback, link-local and metadata addresses; for demos and tests")
	return flags
}

// check finds mistakes that these flags make together.
func (f *classFlags) check() error {
	if f.namespace != "" && f.selector.Selector != nil {
		return usageError{errors.New("--watch-namespace and --watch-namespace-selector exclude each other: give one of them")}
	}
	return nil
}

func (f *classFlags) options() ingress.Options {
	return ingress.Options{
		ControllerClass: f.controllerClass, IngressClass: f.ingressClass, AnnotationsPrefix: f.annotationsPrefix,
		IngressClassByName: f.byName, WatchWithoutClass: f.withoutClass, DisableCatchAll: f.disableCatchAll,
		DisableExternalName: f.disableExternal, AllowLocalEndpoints: f.local, TopologyAware: f.topology,
		WatchNamespace: f.namespace, NamespaceSelector: f.selector.Selector,
		DefaultBackend: f.defaultBackend.Key, DefaultCertificate: f.defaultCertificate.Key, ConfigMap: f.configMap.Key,
		TCPServices: f.tcpServices.Key, UDPServices: f.udpServices.Key,
	}
}

// keyFlag is "namespace/name".
type keyFlag struct{ source.Key }

func (f *keyFlag) String() string {
	if f.Name == "" {
		return ""
	}
	return f.Key.String()
}

func (f *keyFlag) Type() string { return "namespace/name" }

func (f *keyFlag) Set(text string) error {
	if text == "" {
		f.Key = source.Key{}
		return nil
	}
	namespace, name, found := strings.Cut(text, "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("%q is not of the form namespace/name", text)
	}
	f.Key = source.Key{Namespace: namespace, Name: name}
	return nil
}

// selectorFlag is a label selector; nil when not set.
type selectorFlag struct{ labels.Selector }

func (f *selectorFlag) String() string {
	if f.Selector == nil {
		return ""
	}
	return f.Selector.String()
}

func (f *selectorFlag) Type() string { return "selector" }

func (f *selectorFlag) Set(text string) error {
	if text == "" {
		f.Selector = nil
		return nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return err
	}
	f.Selector = selector
	return nil
}
