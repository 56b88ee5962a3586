// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// readStreams adds the routes of TCPIngresses and UDPIngresses.
func (r *run) readStreams() {
	for _, object := range sorted(r.objects.TCPIngresses) {
		if r.ours(object) {
			o := origin("TCPIngress", kongapi.Group, "v1beta1", object)
			r.claimCertificates(o, object.Namespace, object.Spec.TLS)
			r.readStream(o, r.readNotes(o.Ref, object, knownOnRoutes), &object.Spec, model.KongTCP)
		}
	}
	for _, object := range sorted(r.objects.UDPIngresses) {
		if r.ours(object) {
			o := origin("UDPIngress", kongapi.Group, "v1beta1", object)
			r.readStream(o, r.readNotes(o.Ref, object, knownOnRoutes), &object.Spec, model.KongUDP)
		}
	}
}

func (r *run) readStream(o model.Origin, n *notes, spec *kongapi.StreamSpec, kind model.KongRouteKind) {
	options, closed := n.routeOptions()
	plugins := r.attachments(n, o)
	transport := model.KongOverTCP
	if kind == model.KongUDP {
		transport = model.KongOverUDP
	}
	for i, rule := range spec.Rules {
		field := "spec.rules[" + strconv.Itoa(i) + "]"
		host := strings.ToLower(rule.Host)
		switch {
		case rule.Port < 1 || rule.Port > 65535:
			r.problem(o.Ref, field+".port", model.ReasonInvalidBackend, "%d is no port; the rule is ignored", rule.Port)
			continue
		case host != "" && (!isHost(host) || kind == model.KongUDP):
			r.problem(o.Ref, field+".host", model.ReasonInvalidHost, "%.100q is no DNS name that a connection could be for; the rule is ignored", rule.Host)
			continue
		case rule.Backend.ServiceName == "" || rule.Backend.ServicePort < 1 || rule.Backend.ServicePort > 65535:
			r.problem(o.Ref, field+".backend", model.ReasonInvalidBackend, "the backend names no port of a Service; the rule is ignored")
			continue
		}
		service := model.KongServiceID{
			Namespace: o.Namespace, Name: rule.Backend.ServiceName, Port: strconv.Itoa(rule.Backend.ServicePort), Transport: transport,
		}
		r.out.Routes = append(r.out.Routes, &model.KongRoute{
			Origin: o, Field: field, Kind: kind, Host: host, Index: i, Port: rule.Port, Service: service, Options: options, Plugins: plugins, Closed: closed,
		})
		r.use(service, o.Ref, field+".backend")
	}
}
