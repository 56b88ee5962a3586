// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
)

// tlsResult is how a host answers over TLS.
type tlsResult struct {
	// entry says that the host has an entry of its own among the server names, be it without certificates.
	entry        bool
	certificates []*certificate
	ids          []model.CertificateID // of the certificates
	problems     []model.Problem
}

// chooseCertificates finds the certificates of a host. The first Ingress whose TLS section concerns the host decides: by an entry that lists
// the host, else by an entry whose certificate is for the host. If there are only sections that do not concern it, the default
// certificate answers. The secrets are those of secretsOf(mains), in that order; nil for a missing one.
func chooseCertificates(host string, mains []*hostClaim, secrets []*certificate) tlsResult {
	var r tlsResult
	var unconcerned []model.Problem
	for _, main := range mains {
		mine := secrets[:len(main.tls)]
		secrets = secrets[len(main.tls):]
		if len(main.tls) == 0 {
			continue
		}
		if !r.entry {
			unconcerned = withoutCertificate(host, main, mine)
		}
		r.entry = true
		if listed := main.listing(host); len(listed) > 0 {
			r.choose(host, main, listed, mine)
			return r
		}
		for i := range main.tls {
			if c := mine[i]; c != nil && c.err == nil && c.covers(host) {
				r.certificates = []*certificate{c}
				return r
			}
		}
	}
	r.problems = unconcerned
	return r
}

// withoutCertificate says why a TLS section has no certificate for a host that it does not list.
func withoutCertificate(host string, main *hostClaim, secrets []*certificate) []model.Problem {
	instead := "; the default certificate answers for " + host
	var problems []model.Problem
	for i, entry := range main.tls {
		if len(entry.hosts) > 0 || entry.secret.Name == "" {
			continue
		}
		if reason, message := refuse(host, entry, secrets[i]); reason != "" {
			problems = append(problems, model.Problem{Object: main.ref, Field: entry.field + ".secretName", Reason: reason, Message: message + instead})
		}
	}
	if len(problems) == 0 {
		problems = append(problems, model.Problem{Object: main.ref, Field: "spec.tls", Reason: model.ReasonCertificateMismatch,
			Message: "no entry lists " + host + " or has a certificate for it" + instead})
	}
	return problems
}

// listing gives the indexes of the TLS entries that list the host.
func (c *claims) listing(host string) []int {
	var listed []int
	for i, entry := range c.tls {
		if slices.Contains(entry.hosts, host) {
			listed = append(listed, i)
		}
	}
	return listed
}

// choose takes the usable certificates of the entries that list the host, the first of each key algorithm.
func (r *tlsResult) choose(host string, main *hostClaim, listed []int, secrets []*certificate) {
	var faults []model.Problem
	for _, i := range listed {
		entry, c := main.tls[i], secrets[i]
		if entry.secret.Name == "" {
			continue
		}
		if reason, message := refuse(host, entry, c); reason != "" {
			faults = append(faults, model.Problem{Object: main.ref, Field: entry.field + ".secretName", Reason: reason, Message: message})
			continue
		}
		if !slices.ContainsFunc(r.certificates, func(o *certificate) bool { return o.Algorithm == c.Algorithm }) {
			r.certificates = append(r.certificates, c)
		}
	}
	instead := "the default certificate answers for " + host
	if len(r.certificates) > 0 {
		instead = "another certificate answers for " + host
	}
	for _, f := range faults {
		f.Message += "; " + instead
		r.problems = append(r.problems, f)
	}
	slices.SortFunc(r.certificates, func(a, b *certificate) int { return cmp.Compare(a.Algorithm, b.Algorithm) })
}

// refuse says why the Secret of an entry cannot be used for a host it lists.
func refuse(host string, entry tlsEntry, c *certificate) (reason, message string) {
	name := entry.secret.String()
	switch {
	case c == nil:
		return model.ReasonMissingSecret, fmt.Sprintf("there is no Secret %s", name)
	case c.err != nil:
		return model.ReasonInvalidCertificate, fmt.Sprintf("the Secret %s is no certificate: %v", name, c.err)
	case !c.covers(host):
		return model.ReasonCertificateMismatch, fmt.Sprintf("the certificate of the Secret %s is not for %s", name, host)
	}
	return "", ""
}

// listIDs notes the IDs of the certificates, in their order.
func (r *tlsResult) listIDs() {
	for _, c := range r.certificates {
		r.ids = append(r.ids, c.ID)
	}
}
