// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// serviceKeys are the annotations of Services and KongServiceFacades.
var serviceKeys = []key[model.KongService]{
	{"ca-certificates-configmaps", "ConfigMaps with CA certificates that the Service's own is verified with", true, nil},
	{"ca-certificates-secrets", "Secrets with such", true, nil},
	{"client-cert", "Secret with the certificate that is shown to the Service", true, nil},
	{"connect-timeout", "milliseconds to connect", false, readTimeout(func(s *model.KongService) *int { return &s.ConnectTimeout })},
	{"host-header", "Host that is sent where preserve-host is false", false, func(s *model.KongService, text string) error {
		host, port, found := strings.Cut(text, ":")
		if _, err := strconv.ParseUint(port, 10, 16); !isHost(strings.ToLower(host)) || found && err != nil {
			return errors.New("is no host")
		}
		s.HostHeader = text
		return nil
	}},
	{"override", "KongIngress with fields of the upstream; outdated", false, nil},
	{"path", "path that is put before that of requests", false, func(s *model.KongService, text string) error {
		if !strings.HasPrefix(text, "/") || strings.Contains(text, "//") || hasControl(text) || strings.ContainsAny(text, " ?#") || len(text) > maxPath {
			return errors.New("is no path")
		}
		s.Path = text
		return nil
	}},
	{"plugins", "plugins of every route to the Service", false, nil},
	{"protocol", "what the Service speaks: http, https, grpc, grpcs, tcp, tls, tls_passthrough", true, func(s *model.KongService, text string) error {
		if !slices.Contains([]string{"http", "https", "grpc", "grpcs", "tcp", "tls", "tls_passthrough", "udp"}, text) {
			return errors.New("is no protocol of Kong's")
		}
		s.Protocol = text
		return nil
	}},
	{"read-timeout", "milliseconds between two reads", false, readTimeout(func(s *model.KongService) *int { return &s.ReadTimeout })},
	{"retries", "how often another endpoint is tried", false, func(s *model.KongService, text string) error {
		n, err := readInteger(text, 0, 32767)
		s.Retries = &n
		return err
	}},
	{"tags", "tags of what is made of the object", false, nil},
	{"tls-verify", "verify the Service's certificate", true, readBool(func(s *model.KongService, v bool) { s.TLSVerify = &v })},
	{"tls-verify-depth", "longest chain of certificates", true, func(s *model.KongService, text string) error {
		n, err := readInteger(text, 0, 64)
		s.TLSVerifyDepth = &n
		return err
	}},
	{"upstream-policy", "KongUpstreamPolicy of the namespace", false, nil},
	{"write-timeout", "milliseconds between two writes", false, readTimeout(func(s *model.KongService) *int { return &s.WriteTimeout })},
}

var knownOnServices = names(serviceKeys)

func readTimeout(field func(*model.KongService) *int) func(*model.KongService, string) error {
	return func(s *model.KongService, text string) (err error) {
		*field(s), err = readInteger(text, 1, 1<<31-2)
		return err
	}
}

// use is a service that routes name, and the first that does.
type use struct {
	owner model.Ref
	field string
}

// use notes that a route names a service.
func (r *run) use(id model.KongServiceID, owner model.Ref, field string) {
	if id.IsZero() {
		return
	}
	s := r.memory.services[id]
	if s == nil {
		s = &serviceMemory{id: id, order: id.String()}
		r.memory.services[id] = s
	}
	if s.named != r.memory.now {
		s.named, s.use = r.memory.now, use{owner, field}
		r.services = append(r.services, s)
	}
}

// buildServices builds what routes name.
func (r *run) buildServices() {
	r.out.Services = make([]*model.KongService, 0, len(r.services))
	for _, s := range r.memory.sortServices(r.services) {
		r.out.Services = append(r.out.Services, r.service(s))
	}
}

func (r *run) service(s *serviceMemory) *model.KongService {
	return s.get(r, func() *model.KongService { return r.buildService(s.id, look(r, func(*run) use { return s.use })) })
}

// notesOf reads what the annotations of a Service say, whatever the port.
func (r *run) notesOf(object *corev1.Service) *model.KongService {
	return look(r, func(r *run) *model.KongService {
		return memoOf(r.memory.notes, object).get(r, func() *model.KongService {
			s := r.readServiceNotes(origin("Service", "", "v1", object), object, &model.KongService{})
			return &s
		})
	})
}

// buildService builds one port of a Service. Without a Service, or port, it has no targets, so that its routes answer 503 and nobody else takes
// their requests.
func (r *run) buildService(id model.KongServiceID, u use) *model.KongService {
	name, port := id.Name, id.Port
	var facade *kongapi.KongServiceFacade
	if id.Facade {
		facade = r.findFacade(source.Key{Namespace: id.Namespace, Name: id.Name})
		name, port = facade.Spec.BackendRef.Name, strconv.Itoa(facade.Spec.BackendRef.Port)
	}
	s := &model.KongService{ID: id, Protocol: "http", Port: 80}
	if n, err := strconv.Atoi(port); err == nil {
		s.Port = n
	}
	object := r.findService(source.Key{Namespace: id.Namespace, Name: name})
	if object == nil {
		s.Origin = model.Origin{Ref: model.Ref{Kind: "Service", Namespace: id.Namespace, Name: name}, Version: "v1"}
		r.problem(u.owner, u.field, model.ReasonMissingService, "there is no Service %s/%s; its routes answer 503", id.Namespace, name)
		return withTransport(s)
	}
	if facade != nil {
		*s = r.readServiceNotes(origin("KongServiceFacade", "incubator.ingress-controller.konghq.com", "v1alpha1", facade), facade, s)
	} else {
		port := s.Port
		*s = *r.notesOf(object)
		s.ID, s.Port = id, port
	}
	found := findPort(object, port, id.Transport)
	if found == nil && object.Spec.Type != corev1.ServiceTypeExternalName {
		r.problem(u.owner, u.field, model.ReasonMissingPort, "the Service %s/%s has no port %s; its routes answer 503", id.Namespace, name, port)
		return withTransport(s)
	}
	if found != nil {
		s.Port = int(found.Port)
		s.Protocol = cmp.Or(s.Protocol, appProtocol(found))
	}
	r.addTargets(s, object, found, port, u)
	r.readHealth(s, object)
	return withTransport(s)
}

// withTransport gives the service the protocol of its transport where none is written.
func withTransport(s *model.KongService) *model.KongService {
	switch s.ID.Transport {
	case model.KongOverTCP:
		if !slices.Contains([]string{"tcp", "tls", "tls_passthrough"}, s.Protocol) {
			s.Protocol = "tcp"
		}
	case model.KongOverUDP:
		s.Protocol = "udp"
	default:
		s.Protocol = cmp.Or(s.Protocol, "http")
	}
	return s
}

// appProtocol gives what the port of a Service says that it speaks, or "".
func appProtocol(port *corev1.ServicePort) string {
	if port.AppProtocol == nil {
		return ""
	}
	switch *port.AppProtocol {
	case "https", "kubernetes.io/wss":
		return "https"
	case "grpc", "kubernetes.io/h2c":
		return "grpc"
	case "grpcs":
		return "grpcs"
	}
	return ""
}

// readServiceNotes reads the annotations of a Service or KongServiceFacade into a copy of s.
func (r *run) readServiceNotes(o model.Origin, object metav1.Object, s *model.KongService) model.KongService {
	filled := *s
	filled.Origin, filled.Protocol = o, ""
	n := r.readNotes(o.Ref, object, knownOnServices)
	filled.Closed = apply(n, serviceKeys, &filled)
	filled.Tags = n.tags()
	filled.Plugins = r.attachments(n, o)
	r.readUpstream(n, &filled)
	r.readServiceTLS(n, &filled)
	return filled
}

// tlsProtocols are those under which a service has certificates.
var tlsProtocols = []string{"https", "grpcs", "tls"}

// readServiceTLS reads the annotations that name certificates.
func (r *run) readServiceTLS(n *notes, s *model.KongService) {
	namespace := s.Origin.Namespace
	if name := strings.TrimSpace(n.values["client-cert"]); name != "" {
		c, why := r.certificateOf(source.Key{Namespace: namespace, Name: name})
		if s.ClientCertificate = c; c == nil {
			s.Closed = firstOf(s.Closed, "the certificate for the Service cannot be used")
			n.invalid("client-cert", "its routes answer 503", errors.New("names no usable certificate: "+why))
		}
	}
	for _, kind := range []string{"secrets", "configmaps"} {
		key := "ca-certificates-" + kind
		for _, name := range list(n.values[key]) {
			a, why := r.authority(kind, source.Key{Namespace: namespace, Name: name})
			if a == nil {
				s.Closed = firstOf(s.Closed, "the certificate of the Service cannot be verified")
				n.invalid(key, "its routes answer 503", fmt.Errorf("names %.60q: %s", name, why))
				continue
			}
			s.Authorities = append(s.Authorities, a)
		}
	}
	verified := s.TLSVerify != nil && *s.TLSVerify
	if len(s.Authorities) > 0 && !verified {
		n.problem(n.object, prefix+"tls-verify", model.ReasonInvalidAnnotation,
			"CA certificates are named, but the Service's certificate is not verified; set "+
				prefix+"tls-verify to true")
	}
	if (s.ClientCertificate != nil || verified || len(s.Authorities) > 0) && s.Protocol != "" && !slices.Contains(tlsProtocols, s.Protocol) {
		n.problem(n.object, n.field("protocol"), model.ReasonInvalidAnnotation, "over %s there are no certificates; its routes answer 503", s.Protocol)
		s.Closed = firstOf(s.Closed, "the certificates that the Service asks for need TLS")
	}
}
