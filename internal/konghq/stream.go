// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// readStreams adds the routes of TCPIngresses and UDPIngresses.
func (r *run) readStreams() {
	for _, object := range sorted(r.objects.TCPIngresses) {
		if r.ours(object) {
			r.take(memoOf(r.memory.streams, metav1.Object(object)).get(r, func() *reading {
				return r.readStream(origin("TCPIngress", kongapi.Group, "v1beta1", object), object, &object.Spec, model.KongTCP)
			}))
		}
	}
	for _, object := range sorted(r.objects.UDPIngresses) {
		if r.ours(object) {
			r.take(memoOf(r.memory.streams, metav1.Object(object)).get(r, func() *reading {
				return r.readStream(origin("UDPIngress", kongapi.Group, "v1beta1", object), object, &object.Spec, model.KongUDP)
			}))
		}
	}
}

func (r *run) readStream(o model.Origin, object metav1.Object, spec *kongapi.StreamSpec, kind model.KongRouteKind) *reading {
	found := &reading{}
	n := r.readNotes(o.Ref, object, knownOnRoutes)
	options, closed := n.routeOptions()
	plugins := r.attachments(n, o)
	transport := model.KongOverUDP
	if kind == model.KongTCP {
		transport = model.KongOverTCP
		found.claims = r.claimCertificates(o, o.Namespace, spec.TLS)
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
		found.routes = append(found.routes, &model.KongRoute{
			Origin: o, Field: field, Kind: kind, Host: host, Index: i, Port: rule.Port, Service: service, Options: options, Plugins: plugins, Closed: closed,
		})
		found.use(service, o.Ref, field+".backend")
	}
	return found
}
