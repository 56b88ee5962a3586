// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/model"
)

// healthClaim is what an Ingress asks for the health of a backend that it names.
type healthClaim struct {
	*claims
	backend model.BackendID
	// older is the Ingress that decides about checks, or about outliers, instead; nil for none.
	olderCheck, olderOutlier *claims
}

// claimHealth notes what an Ingress asks for the backends that it names. Ingresses come in the order of age: the first that asks decides.
func (r *run) claimHealth(c *claims) {
	if c.effect.Health.IsZero() {
		return
	}
	for _, host := range c.hosts {
		for _, p := range host.paths {
			r.claimHealthOf(p.backend, c)
		}
		r.claimHealthOf(host.root, c)
	}
}

func (r *run) claimHealthOf(id model.BackendID, c *claims) {
	if id.IsZero() {
		return
	}
	if r.health == nil {
		r.health = map[model.BackendID]*backendHealth{}
	}
	h := r.health[id]
	if h == nil {
		h = &backendHealth{}
		r.health[id] = h
	}
	claim := healthClaim{claims: c, backend: id}
	asked := c.effect.Health
	if asked.Check != nil {
		if h.checker == nil {
			h.checker, h.Check = c, asked.Check
		} else if h.checker != c && !(model.Health{Check: h.Check}).Equal(model.Health{Check: asked.Check}) {
			claim.olderCheck = h.checker
		}
	}
	if asked.Outlier != nil {
		if h.ejector == nil {
			h.ejector, h.Outlier = c, asked.Outlier
		} else if h.ejector != c && *h.Outlier != *asked.Outlier {
			claim.olderOutlier = h.ejector
		}
	}
	r.healthClaims = append(r.healthClaims, claim)
}

// backendHealth is what Ingresses ask for a backend, and which ones decided.
type backendHealth struct {
	model.Health
	checker, ejector *claims
}

// serviceHealth is what a Service says of its endpoints itself.
type serviceHealth struct {
	model.Health
	groups    annotation.ServiceGroups
	slowStart time.Duration
	problems  []model.Problem
}

func readServiceHealth(service *corev1.Service) serviceHealth {
	var s serviceHealth
	if service != nil && service.Spec.Type != corev1.ServiceTypeExternalName {
		var effect annotation.ServiceEffect
		effect, s.groups, s.problems = annotation.ParseService(
			model.Ref{Kind: "Service", Namespace: service.Namespace, Name: service.Name}, service.Annotations)
		s.Health, s.slowStart = effect.Health, effect.SlowStart
	}
	return s
}

// decide gives how a backend is judged: what the Service says goes before what Ingresses ask.
func (s *serviceHealth) decide(id model.BackendID, in *backendInputs) *model.Health {
	asked := in.health
	if s.groups.Check {
		asked.Check = s.Check
	}
	if id.Transport == model.UDP && asked.Check != nil && asked.Check.Port == 0 && !hasTwin(id, in) {
		asked.Check = nil // nobody can connect there
	}
	if s.groups.Outlier {
		asked.Outlier = s.Outlier
	}
	if asked.IsZero() {
		return nil
	}
	return &asked
}

// hasTwin tells whether endpoints listen on TCP where they take datagrams, as those of DNS servers do, by a port of the same Service.
func hasTwin(id model.BackendID, in *backendInputs) bool {
	port := portOf(in.service, id)
	return port != nil && slices.ContainsFunc(in.slices, func(slice *discoveryv1.EndpointSlice) bool {
		numbers := slicePorts(slice, port)
		return slices.ContainsFunc(slice.Ports, func(other discoveryv1.EndpointPort) bool {
			isTCP := other.Protocol == nil || *other.Protocol == corev1.ProtocolTCP
			return isTCP && other.Port != nil && slices.Contains(numbers, uint16(*other.Port))
		})
	})
}

// reportHealth says what of the claims has no effect, when all backends are up to date.
func (r *run) reportHealth() {
	for _, c := range r.healthClaims {
		b := r.memory.backends[c.backend]
		if b == nil || b.seen != r.memory.now {
			continue // no route leads there
		}
		asked := c.effect.Health
		r.reportOverruled(c, "health-check", asked.Check != nil, b.own.groups.Check, c.olderCheck)
		r.reportOverruled(c, "outlier", asked.Outlier != nil, b.own.groups.Outlier, c.olderOutlier)
	}
}

func (r *run) reportOverruled(c healthClaim, group string, asked, byService bool, older *claims) {
	service := c.backend.Namespace + "/" + c.backend.Service
	var message string
	switch {
	case asked && byService:
		message = fmt.Sprintf("the Service %s has annotations of its own that begin with %s/%s-; those of this Ingress have no effect on it", service, annotation.OwnPrefix, group)
	case older != nil:
		message = fmt.Sprintf("%s, which is older, says the same of the Service %s otherwise; what this Ingress says has no effect on it", older.name(), service)
	default:
		return
	}
	r.problems = append(r.problems, model.Problem{
		Object: c.ref, Field: "metadata.annotations[" + annotation.OwnPrefix + "/" + group + "-*]", Reason: model.ReasonShadowed, Message: message,
	})
}

// name says for people which Ingress it is.
func (c *claims) name() string { return c.ref.Namespace + "/" + c.ref.Name }

// noteSticky remembers the backends whose clients hold cookies: their endpoints keep them until they are gone.
func (r *run) noteSticky(result *hostResult) {
	for _, id := range result.sticky {
		if r.sticky == nil {
			r.sticky = map[model.BackendID]bool{}
		}
		r.sticky[id] = true
	}
}

// stickyBackends lists the backends of a host that clients are kept on by cookies.
func stickyBackends(locations []*location) []model.BackendID {
	var list []model.BackendID
	holds := func(b *model.Balance) bool { return b != nil && b.Affinity != nil }
	for _, l := range locations {
		if !l.matched {
			continue
		}
		if holds(l.route.Policy.Balance) && !l.route.Backend.IsZero() {
			list = append(list, l.route.Backend)
		}
		for _, c := range l.route.Canaries {
			if holds(c.Balance) {
				list = append(list, c.Backend)
			}
		}
	}
	return list
}
