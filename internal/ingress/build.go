// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"slices"
	"strconv"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// Result is what a snapshot comes to.
type Result struct {
	Model *model.Model
	// ExternalNames are the DNS names whose addresses Snapshot.Addresses should hold: lower case, with the final dot if one was
	// written, sorted and unique.
	ExternalNames []string
	// Accepted are the Ingresses that are ours, canaries and broken ones too, in the order of the snapshot. They get a status.
	Accepted []*netv1.Ingress
}

// Build gives the model of a snapshot. It never fails: what cannot be honoured is a Problem. Parts that did not change since the last call are the
// same pointers.
func (b *Builder) Build(snapshot *source.Snapshot) *Result {
	result := b.endpointsChanged(snapshot)
	if result == nil {
		result = b.build(snapshot)
	}
	b.remember(snapshot, result)
	return result
}

// build looks at everything.
func (b *Builder) build(snapshot *source.Snapshot) *Result {
	b.memory.begin()
	r := &run{Builder: b, snapshot: snapshot, result: &Result{Model: &model.Model{}}}
	r.readSettings()
	r.readIngresses()
	r.chooseNames()
	r.buildCertificates()
	r.buildHosts()
	r.buildDefaultBackend()
	r.buildListeners()
	r.reportHealth()
	r.assemble()
	b.memory.refused = snapshot.Refused
	b.memory.forget()
	return r.result
}

// run is one call of Build.
type run struct {
	*Builder
	snapshot *source.Snapshot
	result   *Result
	problems []model.Problem

	sameEndpoints bool // Services, EndpointSlices and addresses are those of the last build

	hosts        []*hostMemory // with a claim, in the order of first appearance
	backends     []*backendMemory
	certificates map[model.CertificateID]*model.Certificate
	unsorted     bool                               // other names were put behind the hosts
	otherNames   map[string]string                  // the host of each alias and counterpart; nil until somebody asks
	health       map[model.BackendID]*backendHealth // what Ingresses ask for it; nil until one does
	healthClaims []healthClaim
	sticky       map[model.BackendID]bool // whose clients are kept on endpoints by cookies; nil for none
	covering     map[string]bool          // the hosts with a wildcard name that have an entry among the server names
}

// readSettings parses the ConfigMap. Other settings than last time make everything that depends on them be built anew.
func (r *run) readSettings() {
	settings, id, problems := parseSettings(&r.options, r.snapshot, r.inForce)
	r.problems = append(r.problems, problems...)
	changed := r.memory.useSettings(settings)
	r.sameEndpoints = !changed && model.SameTable(r.Builder.snapshot.Services, r.snapshot.Services) &&
		model.SameTable(r.Builder.snapshot.EndpointSlices, r.snapshot.EndpointSlices) && model.SameTable(r.Builder.snapshot.Addresses, r.snapshot.Addresses)
	r.result.Model.Settings, r.result.Model.SettingsID = settings, id
}

// readIngresses distributes the claims of the accepted Ingresses over the hosts.
func (r *run) readIngresses() {
	r.host(model.CatchAll)
	f := newFilter(&r.options, r.snapshot)
	r.result.Accepted = make([]*netv1.Ingress, 0, len(r.snapshot.Ingresses))
	for _, ing := range r.snapshot.Ingresses {
		accepted, problem := f.accepts(ing)
		if problem != nil {
			r.problems = append(r.problems, *problem)
		}
		if !accepted {
			continue
		}
		r.result.Accepted = append(r.result.Accepted, ing)
		c := r.memory.claimsOf(r.options.AnnotationsPrefix, ing, r.snapshot)
		r.problems = append(r.problems, c.problems...)
		if s := c.effect.StreamSnippet; s != "" {
			r.result.Model.Streams = append(r.result.Model.Streams, s)
		}
		r.claimHealth(c)
		for _, claim := range c.hosts {
			h := r.host(claim.name)
			if c.effect.Canary {
				h.next.canaries = append(h.next.canaries, claim)
			} else {
				h.next.mains = append(h.next.mains, claim)
			}
		}
	}
}

func (r *run) host(name string) *hostMemory {
	h, first := r.memory.host(name)
	if first {
		r.hosts = append(r.hosts, h)
	}
	return h
}

// buildCertificates finds the certificates of each host that has a TLS section.
func (r *run) buildCertificates() {
	r.covering = map[string]bool{}
	r.certificates = map[model.CertificateID]*model.Certificate{}
	for _, h := range r.hosts {
		r.buildTLS(h)
		r.problems = append(r.problems, h.tls.problems...)
		for _, c := range h.tls.certificates {
			r.addCertificate(c)
		}
		if h.tls.entry && h.name[0] == '*' {
			r.covering[h.name] = true
		}
	}
	if key := r.options.DefaultCertificate; key.Name != "" {
		r.addDefaultCertificate(key)
	}
}

func (r *run) buildTLS(h *hostMemory) {
	h.nextSecrets = h.nextSecrets[:0]
	if h.name != model.CatchAll {
		for _, main := range h.next.mains {
			for _, entry := range main.tls {
				h.nextSecrets = append(h.nextSecrets, r.memory.certificateOf(entry.secret, r.snapshot))
			}
		}
	}
	if len(h.nextSecrets) == 0 {
		h.secrets, h.tls = nil, tlsResult{}
		return
	}
	if slices.Equal(h.secrets, h.nextSecrets) && slices.Equal(h.in.mains, h.next.mains) {
		return
	}
	h.secrets = slices.Clone(h.nextSecrets)
	h.tls = chooseCertificates(h.name, h.next.mains, h.secrets)
	h.tls.listIDs()
}

// addCertificate notes a certificate that is used. Two Secrets of equal content are one; the owner is the first by name.
func (r *run) addCertificate(c *certificate) {
	if old := r.certificates[c.ID]; old == nil || c.Owner.Compare(old.Owner) < 0 {
		r.certificates[c.ID] = c.Certificate
	}
}

func (r *run) addDefaultCertificate(key source.Key) {
	c := r.memory.certificateOf(key, r.snapshot)
	if c != nil && c.err == nil {
		r.addCertificate(c)
		r.result.Model.DefaultCertificates = []model.CertificateID{c.ID}
		return
	}
	p := model.Problem{Object: model.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name}, Reason: model.ReasonMissingConfiguration,
		Message: "--default-ssl-certificate names it, but there is no such Secret; a self-signed certificate answers instead"}
	if c != nil {
		p.Reason = model.ReasonInvalidCertificate
		p.Message = "--default-ssl-certificate names it, but " + c.err.Error() + "; a self-signed certificate answers instead"
	}
	r.problems = append(r.problems, p)
}

// buildHosts builds each host, and the backends that its routes name.
func (r *run) buildHosts() {
	settings := &r.result.Model.Settings
	for _, h := range r.hosts {
		h.next.secure = h.tls.entry || h.wildcard != "" && r.covering[h.wildcard]
		if h.result == nil || !h.in.equal(h.next) {
			h.in = h.next.clone()
			h.result = buildHost(h.name, h.in, h.result, settings)
			h.backends = make([]*backendMemory, len(h.result.uses))
			for i, u := range h.result.uses {
				h.backends[i] = r.memory.backend(u.backend)
			}
		}
		r.problems = append(r.problems, h.result.problems...)
		r.noteSticky(h.result)
	}
	for _, h := range r.hosts {
		for i, backend := range h.backends {
			r.use(backend)
			if backend.result.fault.reason != "" {
				u := h.result.uses[i]
				r.problems = append(r.problems, backend.result.problem(u.owner, u.field, u.without))
			}
		}
	}
}

// use puts a backend into the model, brought up to date.
func (r *run) use(backend *backendMemory) {
	if r.refresh(backend) {
		r.backends = append(r.backends, backend)
	}
}

// refresh brings a backend up to date and tells whether this build asks for it for the first time.
func (r *run) refresh(backend *backendMemory) (first bool) {
	if backend.seen == r.memory.now {
		return false
	}
	in := backend.in
	if !r.sameEndpoints || !backend.built {
		in = readBackendInputs(backend.id, r.snapshot)
	}
	in.sticky, in.health = r.sticky[backend.id], model.Health{}
	if h := r.health[backend.id]; h != nil {
		in.health = h.Health
	}
	r.memory.refresh(backend, in, &r.options)
	r.problems = append(append(r.problems, backend.own.problems...), backend.result.problems...)
	if name := backend.result.lookup; name != "" {
		r.result.ExternalNames = append(r.result.ExternalNames, name)
	}
	return true
}

// buildDefaultBackend finds the first port of the Service that answers what no route matches.
func (r *run) buildDefaultBackend() {
	key := r.options.DefaultBackend
	if key.Name == "" {
		return
	}
	problem := model.Problem{Object: model.Ref{Kind: "Service", Namespace: key.Namespace, Name: key.Name}, Reason: model.ReasonMissingConfiguration}
	service := r.snapshot.Services[key]
	if service == nil || len(service.Spec.Ports) == 0 {
		problem.Message = "--default-backend-service names it, but there is no such Service with a port; the built-in page answers"
		r.problems = append(r.problems, problem)
		return
	}
	id := model.BackendID{Namespace: key.Namespace, Service: key.Name, Port: strconv.Itoa(int(service.Spec.Ports[0].Port))}
	backend := r.memory.backend(id)
	r.use(backend)
	if backend.result.fault.reason != "" {
		r.problems = append(r.problems, backend.result.problem(problem.Object, "", "the built-in page answers"))
	}
	if len(backend.result.endpoints) > 0 {
		r.result.Model.DefaultBackend = id
	}
}

// assemble puts the parts into the model, in order.
func (r *run) assemble() {
	m := r.result.Model
	m.Hosts, m.ServerNames = make([]*model.Host, 0, len(r.hosts)), make([]model.ServerName, 0, len(r.hosts))
	for _, h := range r.memory.sortHosts(r.hosts) {
		if h.result.host != nil {
			m.Hosts = append(m.Hosts, h.result.host)
		}
		if h.tls.entry {
			m.ServerNames = append(m.ServerNames, model.ServerName{Name: h.name, Certificates: h.tls.ids})
		}
		r.addOtherNames(h)
	}
	r.sortOtherNames()
	m.Backends = make([]*model.Backend, 0, len(r.backends))
	for _, backend := range r.memory.sortBackends(r.backends) {
		m.Backends = append(m.Backends, backend.model)
	}
	m.Certificates = r.memory.sortCertificates(r.certificates)
	slices.Sort(r.result.ExternalNames)
	r.result.ExternalNames = slices.Compact(r.result.ExternalNames)
	r.tellSecretsLimit()
	m.Problems = slices.Clip(model.SortProblems(r.problems))
}

// tellSecretsLimit adds to what is said of missing Secrets that they may just not be looked at.
func (r *run) tellSecretsLimit() {
	if r.options.SecretsLimit == "" {
		return
	}
	for i := range r.problems {
		if r.problems[i].Reason == model.ReasonMissingSecret {
			r.problems[i].Message += "; only Secrets " + r.options.SecretsLimit + " are looked at"
		}
	}
}
