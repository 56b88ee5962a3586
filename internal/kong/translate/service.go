// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"fmt"
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// variant is what a route asks of the service behind it, beyond what the Service itself says. Routes that ask for different things have services of
// their own, over the same targets.
type variant struct {
	protocol                                  string
	connectTimeout, readTimeout, writeTimeout int // milliseconds
	retries                                   int // -1 for none asked
	tls                                       *model.UpstreamTLS
	upstream                                  *upstreamVariant
	// shares are the services that share the requests, when there is more than one; they make a service of the route's own.
	shares []share
}

// upstreamVariant is how a route wants its requests spread.
type upstreamVariant struct {
	algorithm  string
	hash       model.KongHash
	hostHeader string
}

func (v *variant) isZero() bool {
	return v.protocol == "" && v.connectTimeout == 0 && v.readTimeout == 0 && v.writeTimeout == 0 && v.retries < 0 && v.tls == nil &&
		v.upstream == nil &&
		len(v.shares) == 0
}

// suffix tells a service of a variant from that of another.
func (v *variant) suffix() string {
	if v.isZero() {
		return ""
	}
	text := fmt.Sprint(v.protocol, v.connectTimeout, v.readTimeout, v.writeTimeout, v.retries)
	if v.tls != nil {
		text += fmt.Sprintf("%+v", *v.tls)
		if c := v.tls.Certificate; c != nil {
			text += string(c.ID)
		}
	}
	if v.upstream != nil {
		text += fmt.Sprintf("%+v", *v.upstream)
	}
	return "." + digest(text)[:8]
}

func serviceName(id model.KongServiceID) string {
	if id.Facade {
		return id.Namespace + "." + id.Name + ".svc.facade"
	}
	name := id.Namespace + "." + id.Name + "." + id.Port
	switch id.Transport {
	case model.KongOverTCP:
		name += ".tcp"
	case model.KongOverUDP:
		name += ".udp"
	}
	if id.Virtual {
		name += ".virtual"
	}
	return name
}

func upstreamName(id model.KongServiceID) string {
	if id.Facade {
		return id.Namespace + "." + id.Name + ".svc.facade"
	}
	name := id.Name + "." + id.Namespace + "." + id.Port
	switch id.Transport {
	case model.KongOverTCP:
		name += ".tcp"
	case model.KongOverUDP:
		name += ".udp"
	}
	if id.Virtual {
		name += ".virtual"
	}
	return name + ".svc"
}

// serviceFor gives the service that a route leads to, which it adds when it is the first.
func (t *translation) serviceFor(r *route) *entity.Service {
	s := t.bound[r.to]
	v := &r.variant
	name := serviceName(r.to) + v.suffix()
	if len(v.shares) > 0 {
		name = r.Name + ".weighted"
	}
	name = t.name(entity.Services, name, r.to.String()+v.suffix()+"\x00"+name)
	if known := t.services[name]; known != nil {
		return known
	}
	upstream := t.upstreamFor(r, s)
	e := &entity.Service{
		Meta: t.meta(entity.Services, name, s.Origin, "", s.Tags), Name: name, Protocol: s.Protocol, Host: upstream.Name, Port: s.Port, Path: s.Path,
		Retries: s.Retries, ConnectTimeout: s.ConnectTimeout, ReadTimeout: s.ReadTimeout, WriteTimeout: s.WriteTimeout,
	}
	if e.Retries == nil {
		e.Retries = ptr(5)
	}
	t.setTLS(e, s)
	t.vary(e, v, r)
	if e.Path == "" && (e.Protocol == "http" || e.Protocol == "https") {
		e.Path = "/"
	}
	for _, timeout := range []*int{&e.ConnectTimeout, &e.ReadTimeout, &e.WriteTimeout} {
		if *timeout == 0 {
			*timeout = 60000
		}
	}
	if !slices.Contains([]string{"http", "https"}, e.Protocol) && e.Path != "" {
		t.problem(s.Origin.Ref, "metadata.annotations[konghq.com/path]", model.ReasonInvalidAnnotation,
			"there is no path over %s; it has no effect", e.Protocol)
		e.Path = ""
	}
	t.services[name] = e
	t.add(e)
	t.attachToService(e, s)
	return e
}

// setTLS gives a service the certificates that its annotations name.
func (t *translation) setTLS(e *entity.Service, s *model.KongService) {
	if c := t.certificates[s.ClientCertificate]; c != nil {
		e.ClientCertificate = entity.RefTo(c)
	}
	e.TLSVerify, e.TLSVerifyDepth = s.TLSVerify, s.TLSVerifyDepth
	for _, a := range s.Authorities {
		e.CACertificates = append(e.CACertificates, a.ID)
	}
}

// vary gives a service what a route asks of it.
func (t *translation) vary(e *entity.Service, v *variant, r *route) {
	if v.protocol != "" {
		e.Protocol = v.protocol
		if v.protocol == "grpc" || v.protocol == "grpcs" {
			e.Path = ""
		}
	}
	if v.connectTimeout != 0 {
		e.ConnectTimeout = v.connectTimeout
	}
	if v.readTimeout != 0 {
		e.ReadTimeout = v.readTimeout
	}
	if v.writeTimeout != 0 {
		e.WriteTimeout = v.writeTimeout
	}
	if v.retries >= 0 {
		e.Retries = ptr(v.retries)
	}
	if v.tls != nil {
		t.varyTLS(e, v.tls, r)
	}
}

// upstreamFor gives the upstream of a service, which it adds when it is the first.
func (t *translation) upstreamFor(r *route, s *model.KongService) *entity.Upstream {
	name, key := upstreamName(s.ID), s.ID.String()
	switch v := &r.variant; {
	case len(v.shares) > 0:
		name, key = r.Name+".weighted.svc", key+"\x00"+r.Name
	case v.upstream != nil:
		suffix := (&variant{retries: -1, upstream: v.upstream}).suffix()
		name, key = name+suffix, key+suffix
	}
	name = t.name(entity.Upstreams, hostName(name), key)
	if known := t.upstreams[name]; known != nil {
		return known
	}
	e := &entity.Upstream{Meta: t.meta(entity.Upstreams, name, s.Origin, "", s.Tags), Name: name, HostHeader: s.HostHeader}
	if u := s.Upstream; u != nil {
		t.configure(e, u)
	}
	if u := r.variant.upstream; u != nil {
		if u.algorithm != "" {
			t.setAlgorithm(e, u.algorithm, u.hash, model.KongHash{}, r.source.Origin.Ref)
		}
		if u.hostHeader != "" {
			e.HostHeader = u.hostHeader
		}
	}
	targets := s.Targets
	if len(r.variant.shares) > 0 {
		targets = t.weigh(r.variant.shares)
	}
	t.judge(e, s, targets)
	t.upstreams[name] = e
	t.add(e)
	for _, target := range targets {
		t.addTarget(e, target, s.Origin)
	}
	return e
}

func (t *translation) addTarget(upstream *entity.Upstream, target model.KongTarget, o model.Origin) {
	e := &entity.Target{
		Meta: t.meta(entity.Targets, upstream.Name+"/"+target.Address, o, "", nil), Target: target.Address, Weight: ptr(target.Weight),
		Upstream: entity.RefTo(upstream),
	}
	t.add(e)
}
