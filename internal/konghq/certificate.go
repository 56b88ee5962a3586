// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"cmp"
	"crypto/tls"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// certificates are those in use, and who has which server name.
type certificates struct {
	run      *run
	bySecret map[source.Key]*secretCertificate
	content  map[string]*model.KongCertificate // the same chain and key in two Secrets is one certificate
	names    map[string]nameOwner
}

// secretCertificate is what a Secret holds: a certificate, or why it holds none.
type secretCertificate struct {
	certificate *model.KongCertificate
	dnsNames    []string
	why         string
}

type nameOwner struct {
	object      model.Ref
	certificate *model.KongCertificate
}

// ofSecret reads the certificate in a Secret.
func (c *certificates) ofSecret(key source.Key) (certificate *model.KongCertificate, why string) {
	s := c.read(key)
	return s.certificate, s.why
}

func (c *certificates) read(key source.Key) *secretCertificate {
	if known := c.bySecret[key]; known != nil {
		return known
	}
	if c.bySecret == nil {
		c.bySecret, c.content, c.names = map[source.Key]*secretCertificate{}, map[string]*model.KongCertificate{}, map[string]nameOwner{}
	}
	s := c.parse(key)
	c.bySecret[key] = s
	return s
}

func (c *certificates) parse(key source.Key) *secretCertificate {
	secret := c.run.snapshot.Secrets[key]
	if secret == nil {
		return &secretCertificate{why: "there is no Secret " + key.String()}
	}
	chain, private := secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
	if len(chain) == 0 || len(private) == 0 {
		return &secretCertificate{why: "the Secret " + key.String() + " lacks tls.crt or tls.key"}
	}
	pair, err := tls.X509KeyPair(chain, private)
	if err != nil {
		return &secretCertificate{why: "tls.crt and tls.key of the Secret " + key.String() + " are no pair"}
	}
	text := string(chain) + "\x00" + string(private)
	if same := c.content[text]; same != nil {
		return &secretCertificate{certificate: same, dnsNames: pair.Leaf.DNSNames}
	}
	built := &model.KongCertificate{
		Origin: origin("Secret", "", "v1", secret), Chain: strings.TrimSpace(string(chain)) + "\n",
		Key: model.NewSecret(strings.TrimSpace(string(private)) + "\n"),
	}
	c.content[text] = built
	return &secretCertificate{certificate: built, dnsNames: pair.Leaf.DNSNames}
}

// claimCertificates gives the hosts of an object's TLS section their certificates, unless an older object has them.
func (r *run) claimCertificates(owner model.Origin, namespace string, entries []kongapi.StreamTLS) {
	for i, entry := range entries {
		if entry.SecretName == "" {
			continue // the default certificate, or one for the host by another entry
		}
		field := "spec.tls[" + strconv.Itoa(i) + "]"
		key := source.Key{Namespace: namespace, Name: entry.SecretName}
		found := r.certificates.read(key)
		if found.certificate == nil {
			reason := model.ReasonInvalidCertificate
			if r.snapshot.Secrets[key] == nil {
				reason = model.ReasonMissingSecret
			}
			r.problem(owner.Ref, field+".secretName", reason, "%s; another certificate answers for the hosts of the entry", found.why)
			continue
		}
		hosts := entry.Hosts
		if len(hosts) == 0 {
			hosts = found.dnsNames
		}
		for _, host := range hosts {
			r.claimName(owner.Ref, field, strings.ToLower(host), found.certificate)
		}
	}
}

func (r *run) claimName(object model.Ref, field, name string, certificate *model.KongCertificate) {
	if !isHost(name) {
		r.problem(object, field+".hosts", model.ReasonInvalidHost, "%.100q is no DNS name, nor *. and a DNS name; it is left out", name)
		return
	}
	if older, taken := r.certificates.names[name]; taken {
		if older.certificate != certificate {
			r.problem(object, field+".hosts", model.ReasonShadowed, "%s is older and has another certificate for %s, which answers", older.object, name)
		}
		return
	}
	r.certificates.names[name] = nameOwner{object, certificate}
	certificate.Names = append(certificate.Names, name)
}

// readDefaultCertificate gives all other server names the certificate that a flag names.
func (r *run) readDefaultCertificate(m *model.Model) {
	for _, id := range m.DefaultCertificates {
		for _, c := range m.Certificates {
			if c.ID != id {
				continue
			}
			if found, _ := r.certificates.ofSecret(source.Key{Namespace: c.Owner.Namespace, Name: c.Owner.Name}); found != nil {
				found.Names = append(found.Names, "*")
				return
			}
		}
	}
}

// list gives the certificates that a server name or a service uses.
func (c *certificates) list() []*model.KongCertificate {
	var used []*model.KongCertificate
	for _, s := range c.bySecret {
		if s.certificate != nil && !slices.Contains(used, s.certificate) {
			slices.Sort(s.certificate.Names)
			used = append(used, s.certificate)
		}
	}
	slices.SortFunc(used, func(a, b *model.KongCertificate) int { return cmp.Or(a.Origin.Compare(b.Origin.Ref)) })
	return used
}
