// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-ingress/fairway/internal/kong"
	"github.com/fairway-ingress/fairway/internal/source"
)

// kongDiscovery finds gateways by the EndpointSlices of the headless Service of their Admin API.
type kongDiscovery struct {
	service source.Key
	ports   []string
	changed chan struct{}
	lister  cache.Store
}

// discoverKong follows the EndpointSlices until ctx ends.
func discoverKong(ctx context.Context, client kubernetes.Interface, service source.Key, ports []string) (d *kongDiscovery, wait func()) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(service.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = discoveryv1.LabelServiceName + "=" + service.Name }))
	informer := factory.Discovery().V1().EndpointSlices().Informer()
	d = &kongDiscovery{service: service, ports: ports, changed: make(chan struct{}, 1), lister: informer.GetStore()}
	tell := func(any) {
		select {
		case d.changed <- struct{}{}:
		default:
		}
	}
	// It fails on an informer that has stopped, which this one has not.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: tell, UpdateFunc: func(_, o any) { tell(o) }, DeleteFunc: tell})
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	return d, running.Wait
}

// Changed sends a value when a slice has changed.
func (d *kongDiscovery) Changed() <-chan struct{} { return d.changed }

// Endpoints lists the pods of the slices, those that are not ready among them: a gateway without a database becomes ready by being written to. Pods that
// end are left out.
func (d *kongDiscovery) Endpoints() []kong.Endpoint {
	var list []kong.Endpoint
	for _, o := range d.lister.List() {
		slice := o.(*discoveryv1.EndpointSlice)
		for _, port := range slice.Ports {
			if port.Name == nil || port.Port == nil || !slices.Contains(d.ports, *port.Name) {
				continue
			}
			for i := range slice.Endpoints {
				list = append(list, d.endpoints(&slice.Endpoints[i], *port.Name, int(*port.Port))...)
			}
		}
	}
	slices.SortFunc(list, func(a, b kong.Endpoint) int { return strings.Compare(a.URL, b.URL) })
	return slices.Compact(list)
}

func (d *kongDiscovery) endpoints(e *discoveryv1.Endpoint, name string, port int) []kong.Endpoint {
	ends := e.Conditions.Terminating != nil && *e.Conditions.Terminating
	if ends || e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
		return nil
	}
	scheme := "http"
	if strings.Contains(name, "tls") {
		scheme = "https"
	}
	var list []kong.Endpoint
	for _, address := range e.Addresses {
		list = append(list, kong.Endpoint{
			URL:        scheme + "://" + net.JoinHostPort(address, strconv.Itoa(port)),
			ServerName: e.TargetRef.Name + "." + d.service.Name + "." + d.service.Namespace + ".svc",
		})
	}
	return list
}
