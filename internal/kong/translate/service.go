// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"fmt"
	"reflect"
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
		plain := *v.tls
		plain.Certificate = nil // a pointer would be written as an address
		text += fmt.Sprintf("%+v", plain)
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

// need is a service that a route leads to.
type need struct {
	name, upstream string
	to             model.KongServiceID
	variant        variant
	owner          model.Origin // of the route
	unit           *serviceUnit // nil until it was brought
}

// serviceUnit is a service, for all that need it.
type serviceUnit struct {
	unit
	need    *need
	service *model.KongService
	uses    []pluginUse
	plugins pluginUnit
}

// upstreamUnit is an upstream with its targets, for all services over it.
type upstreamUnit struct {
	unit
	need *need
	// bound are the service and those among which requests are shared, services what they were when the unit was translated.
	bound    []*boundService
	services []*model.KongService
}

// serviceFor refers to the service that a route leads to, and notes that it is needed.
func (t *translation) serviceFor(r *route) *entity.Reference {
	v, id := &r.variant, r.to
	name, upstream := serviceName(id)+v.suffix(), upstreamName(id)
	switch {
	case len(v.shares) > 0:
		name, upstream = r.Name+".weighted", r.Name+".weighted.svc"
	case v.upstream != nil:
		upstream += (&variant{retries: -1, upstream: v.upstream}).suffix()
	}
	n := &need{to: id, variant: *v, owner: r.source.Origin}
	n.name = nameOf(id, name, id.String()+"\x00"+name)
	n.upstream = nameOf(id, hostName(upstream), id.String()+"\x00"+upstream)
	t.needs = append(t.needs, n)
	return &entity.Reference{ID: t.meta(entity.Services, n.name, model.Origin{}, "", nil).ID}
}

// addServices adds the services that routes lead to. For whom a service is told when something is wrong with what a route asks of it is the first.
func (r *round) addServices() {
	for _, s := range r.current {
		for _, n := range s.needs {
			if n.unit == nil || n.unit.seen == 0 {
				n.unit = r.serviceNamed(n.name)
			}
			if n.unit.seen != r.now {
				r.bringService(n.unit, n)
			}
		}
	}
}

func (r *round) serviceNamed(name string) *serviceUnit {
	u := r.services[name]
	if u == nil {
		u = &serviceUnit{unit: unit{rank: "service/" + name}, plugins: newPluginUnit("service/" + name)}
		r.services[name] = u
	}
	return u
}

func (r *round) bringService(u *serviceUnit, n *need) {
	service := r.bound[n.to].service
	same := n.equal(u.need) && sameButTargets(u.service, service)
	t := r.bring(&u.unit, same, func(t *translation) { t.addService(n, service) })
	if u.service, u.need = service, n; t != nil {
		u.uses = t.uses
	}
	r.served = append(r.served, u)
	up := r.upstreams[n.upstream]
	if up == nil {
		up = &upstreamUnit{unit: unit{rank: "upstream/" + n.upstream}}
		r.upstreams[n.upstream] = up
	}
	if up.seen != r.now {
		same := n.equal(up.need)
		if up.need != n {
			up.bind(r.memory, n)
		}
		r.bringUpstream(up, same)
		r.stood = append(r.stood, up)
	}
}

// equal tells whether two needs ask for the same; that is nil before the first.
func (n *need) equal(o *need) bool {
	return n == o || o != nil && n.to == o.to && n.owner == o.owner && n.upstream == o.upstream && reflect.DeepEqual(&n.variant, &o.variant)
}

// sameButTargets tells whether two services differ in nothing but their targets, if in anything.
func sameButTargets(a, b *model.KongService) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.Targets, y.Targets = nil, nil
	return reflect.DeepEqual(x, y)
}

// bind notes the need that the upstream is for, and the services that it is made of.
func (u *upstreamUnit) bind(m *memory, n *need) {
	u.need, u.bound = n, []*boundService{m.bound[n.to]}
	for _, s := range n.variant.shares {
		u.bound = append(u.bound, m.bound[s.service])
	}
}

// isCurrent tells whether the services are those that the unit was translated from.
func (u *upstreamUnit) isCurrent() bool {
	return slices.EqualFunc(u.bound, u.services, func(b *boundService, s *model.KongService) bool { return b.service == s })
}

// bringUpstream brings an upstream up to date; same says whether the need is as it was.
func (r *round) bringUpstream(u *upstreamUnit, same bool) {
	same = same && u.isCurrent()
	r.bring(&u.unit, same, func(t *translation) { t.addUpstream(u.need, u.bound[0].service) })
	if same {
		return
	}
	u.services = make([]*model.KongService, len(u.bound))
	for i, b := range u.bound {
		u.services[i] = b.service
	}
}

// addService adds a service.
func (t *translation) addService(n *need, s *model.KongService) {
	e := &entity.Service{
		Meta: t.meta(entity.Services, n.name, s.Origin, "", s.Tags), Name: n.name, Protocol: s.Protocol, Host: n.upstream, Port: s.Port, Path: s.Path,
		Retries: s.Retries, ConnectTimeout: s.ConnectTimeout, ReadTimeout: s.ReadTimeout, WriteTimeout: s.WriteTimeout,
	}
	if e.Retries == nil {
		e.Retries = ptr(5)
	}
	t.setTLS(e, s)
	t.vary(e, n)
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
	t.add(e)
	t.attachToService(e, s)
}

// setTLS gives a service the certificates that its annotations name.
func (t *translation) setTLS(e *entity.Service, s *model.KongService) {
	if c := s.ClientCertificate; c != nil {
		e.ClientCertificate = &entity.Reference{ID: t.certificateMeta(c).ID}
	}
	e.TLSVerify, e.TLSVerifyDepth = s.TLSVerify, s.TLSVerifyDepth
	for _, a := range s.Authorities {
		e.CACertificates = append(e.CACertificates, a.ID)
	}
}

// vary gives a service what a route asks of it.
func (t *translation) vary(e *entity.Service, n *need) {
	v := &n.variant
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
		t.varyTLS(e, v.tls, n.owner)
	}
}

// addUpstream adds an upstream and its targets.
func (t *translation) addUpstream(n *need, s *model.KongService) {
	e := &entity.Upstream{Meta: t.meta(entity.Upstreams, n.upstream, s.Origin, "", s.Tags), Name: n.upstream, HostHeader: s.HostHeader}
	if u := s.Upstream; u != nil {
		t.configure(e, u)
	}
	if u := n.variant.upstream; u != nil {
		if u.algorithm != "" {
			t.setAlgorithm(e, u.algorithm, u.hash, model.KongHash{}, n.owner.Ref)
		}
		if u.hostHeader != "" {
			e.HostHeader = u.hostHeader
		}
	}
	targets := s.Targets
	if len(n.variant.shares) > 0 {
		targets = t.weigh(n.variant.shares)
	}
	t.judge(e, s, targets)
	t.add(e)
	for _, target := range targets {
		t.addTarget(e, target, s.Origin)
	}
}

func (t *translation) addTarget(upstream *entity.Upstream, target model.KongTarget, o model.Origin) {
	e := &entity.Target{
		Meta: t.meta(entity.Targets, upstream.Name+"/"+target.Address, o, "", nil), Target: target.Address, Weight: ptr(target.Weight),
		Upstream: entity.RefTo(upstream),
	}
	t.add(e)
}
