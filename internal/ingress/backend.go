// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// backendInputs is all that a backend depends on, besides options.
type backendInputs struct {
	service *corev1.Service // nil when it is missing
	slices  []*discoveryv1.EndpointSlice
	answers []netip.Addr // of DNS, for ExternalName
	sticky  bool         // clients are kept on endpoints by cookies
	health  model.Health // what Ingresses ask for
}

func (a backendInputs) equal(b backendInputs) bool {
	return a.service == b.service && slices.Equal(a.slices, b.slices) && slices.Equal(a.answers, b.answers) && a.sticky == b.sticky && a.health == b.health
}

func readBackendInputs(id model.BackendID, snapshot *source.Snapshot) backendInputs {
	if id.Namespace == "" {
		return backendInputs{answers: snapshot.Addresses[id.Service]}
	}
	key := source.Key{Namespace: id.Namespace, Name: id.Service}
	in := backendInputs{service: snapshot.Services[key]}
	switch {
	case in.service == nil:
	case in.service.Spec.Type == corev1.ServiceTypeExternalName:
		in.answers = snapshot.Addresses[lookupName(in.service)]
	default:
		in.slices = snapshot.EndpointSlices[key]
	}
	return in
}

// fault is what is wrong with a backend; it becomes a Problem of everyone who names it. The zero value is none.
type fault struct{ reason, message string }

// backendResult is what a Service comes to.
type backendResult struct {
	endpoints []model.Endpoint
	draining  []model.Endpoint // which keep the clients that they have; none unless cookies keep clients
	fault     fault
	problems  []model.Problem // of the slices themselves, whoever names the backend
	lookup    string          // a DNS name whose addresses are needed
}

// problem words the fault for an object that names the backend; without says what happens there without endpoints.
func (r *backendResult) problem(object model.Ref, field, without string) model.Problem {
	message := r.fault.message
	if len(r.endpoints) == 0 {
		message += "; " + without
	}
	return model.Problem{Object: object, Field: field, Reason: r.fault.reason, Message: message}
}

// buildBackend gives the endpoints of a backend. There is always a backend; what is wrong with it leaves it without endpoints.
func buildBackend(id model.BackendID, in backendInputs, options *Options) backendResult {
	service := id.Namespace + "/" + id.Service
	switch {
	case id.Namespace == "":
		return buildURLHost(id, in, options)
	case in.service == nil:
		return faulty(model.ReasonMissingService, "there is no Service %s", service)
	case in.service.Spec.Type == corev1.ServiceTypeExternalName:
		return buildExternal(id, in, options)
	}
	port := portOf(in.service, id)
	if port == nil {
		return faulty(model.ReasonMissingPort, "the Service %s has no %s port %s", service, cmp.Or(id.Transport, model.TCP), id.Port)
	}
	if !id.Virtual {
		return buildEndpoints(service, in, port, options)
	}
	if r, ok := buildVirtual(id, in, port, options); ok {
		return r
	}
	r := buildEndpoints(service, in, port, options)
	if r.fault == (fault{}) {
		r.fault = fault{model.ReasonInvalidBackend, fmt.Sprintf("the Service %s is headless and has no address for service-upstream; its endpoints are used", service)}
	}
	return r
}

// buildEndpoints gives what the EndpointSlices of a Service say.
func buildEndpoints(service string, in backendInputs, port *corev1.ServicePort, options *Options) backendResult {
	found := collect(in.slices, port)
	if options.TopologyAware && options.Zone != "" && wantsTopology(in.service) {
		found.ready = markFar(found.ready, options.Zone)
	}
	var list []model.Endpoint
	refused := 0
	for _, tier := range [][]endpoint{found.ready, found.spare, found.draining} {
		if len(list) == 0 {
			var more int
			list, more = addresses(tier, options.AllowLocalEndpoints)
			refused += more
		}
	}
	r := withEndpoints(service, list, refused)
	r.problems = weightProblems(in.slices)
	if in.sticky && len(found.ready)+len(found.spare) > 0 {
		draining, _ := addresses(found.draining, options.AllowLocalEndpoints)
		r.draining = without(draining, list)
	}
	return r
}

func buildExternal(id model.BackendID, in backendInputs, options *Options) backendResult {
	service := id.Namespace + "/" + id.Service
	name, why := externalName(in.service, options)
	if why != "" {
		return faulty(model.ReasonInvalidBackend, "the Service %s is refused, as %s", service, why)
	}
	port := externalPort(in.service, id)
	if port == 0 {
		return faulty(model.ReasonMissingPort, "the Service %s has no port %s", service, id.Port)
	}
	list, refused := resolve(name, in.answers, port, options.AllowLocalEndpoints)
	r := withEndpoints(service, list, refused)
	if _, err := netip.ParseAddr(name); err != nil {
		r.lookup = name
		if len(list) == 0 && refused == 0 {
			r.fault.message = fmt.Sprintf("the name %s of the Service %s does not resolve", name, service)
		}
	}
	return r
}

// buildURLHost gives the addresses of a host that somebody wrote in a URL.
func buildURLHost(id model.BackendID, in backendInputs, options *Options) backendResult {
	port, _ := strconv.ParseUint(id.Port, 10, 16)
	list, refused := resolve(id.Service, in.answers, uint16(port), options.AllowLocalEndpoints)
	r := withEndpoints(id.Service, list, refused)
	if refused > 0 {
		r.fault.message = fmt.Sprintf("the host %s is a local address, which is refused", id.Service)
	}
	if _, err := netip.ParseAddr(id.Service); err != nil {
		r.lookup = id.Service
		if len(list) == 0 && refused == 0 {
			r.fault.message = fmt.Sprintf("the name %s does not resolve", id.Service)
		}
	}
	return r
}

// buildVirtual gives the address of the Service itself.
func buildVirtual(id model.BackendID, in backendInputs, port *corev1.ServicePort, options *Options) (backendResult, bool) {
	a, err := netip.ParseAddr(in.service.Spec.ClusterIP)
	if err != nil {
		return backendResult{}, false // headless
	}
	if model.IsLocalAddress(a) && !options.AllowLocalEndpoints {
		return withEndpoints(id.Namespace+"/"+id.Service, nil, 1), true
	}
	return backendResult{endpoints: []model.Endpoint{model.NewEndpoint(netip.AddrPortFrom(a, uint16(port.Port)))}}, true
}

func lookupName(service *corev1.Service) string {
	name, _ := externalName(service, &Options{AllowLocalEndpoints: true})
	return name
}

func faulty(reason, format string, args ...any) backendResult {
	return backendResult{fault: fault{reason, fmt.Sprintf(format, args...)}}
}

func withEndpoints(service string, list []model.Endpoint, refused int) backendResult {
	r := backendResult{endpoints: list}
	switch {
	case refused > 0 && len(list) == 0:
		r.fault = fault{model.ReasonInvalidBackend, fmt.Sprintf(
			"all endpoints of the Service %s are local addresses, which are refused", service)}
	case refused > 0:
		r.fault = fault{model.ReasonInvalidBackend, fmt.Sprintf("endpoints of the Service %s that are local addresses are refused", service)}
	case len(list) == 0:
		r.fault = fault{model.ReasonNoEndpoints, fmt.Sprintf("the Service %s has no ready endpoint", service)}
	}
	return r
}

// onlyIPv4 leaves other addresses out.
func onlyIPv4(answers []netip.Addr) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(answers), func(a netip.Addr) bool { return !a.Unmap().Is4() })
}
