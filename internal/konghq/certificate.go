// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"crypto/sha256"
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
	content map[[sha256.Size]byte]*model.KongCertificate // the same chain and key in two Secrets is one certificate, that of the first asked for
	used    []*model.KongCertificate
	covered map[*model.KongCertificate][]string // the names that each is for
	names   map[string]nameClaim
	lost    map[string]nameClaim // those whose Secret holds none
}

func newCertificates() certificates {
	return certificates{
		content: map[[sha256.Size]byte]*model.KongCertificate{}, covered: map[*model.KongCertificate][]string{}, names: map[string]nameClaim{},
		lost: map[string]nameClaim{},
	}
}

// secretCertificate is what a Secret holds: a certificate, or why it holds none.
type secretCertificate struct {
	certificate *model.KongCertificate
	digest      [sha256.Size]byte // of chain and key
	dnsNames    []string
	missing     bool // there is no Secret
	why         string
}

// nameClaim is a place that asks for a certificate for a server name.
type nameClaim struct {
	object      model.Ref
	field, name string
	// secret holds the certificate, or should; certificate is nil where it does not.
	secret      model.Origin
	certificate *model.KongCertificate
	// beside is another name, whose certificate it is if that is for both.
	beside string
}

// certificateOf reads the certificate in a Secret.
func (r *run) certificateOf(key source.Key) (certificate *model.KongCertificate, why string) {
	found, certificate := r.findCertificate(key)
	return certificate, found.why
}

// findCertificate gives what a Secret holds, and the certificate that stands for all of its content.
func (r *run) findCertificate(key source.Key) (*secretCertificate, *model.KongCertificate) {
	found := look(r, func(r *run) *secretCertificate {
		return memoOf(r.memory.certificates, key).get(r, func() *secretCertificate { return r.parseCertificate(key) })
	})
	return found, look(r, func(r *run) *model.KongCertificate { return r.certificates.same(found) })
}

// same gives the first certificate of a content that was asked for.
func (c *certificates) same(found *secretCertificate) *model.KongCertificate {
	if found.certificate == nil {
		return nil
	}
	if first := c.content[found.digest]; first != nil {
		return first
	}
	c.content[found.digest] = found.certificate
	c.used, c.covered[found.certificate] = append(c.used, found.certificate), found.dnsNames
	return found.certificate
}

func (r *run) parseCertificate(key source.Key) *secretCertificate {
	secret := r.findSecret(key)
	if secret == nil {
		return &secretCertificate{missing: true, why: "there is no Secret " + key.String()}
	}
	chain, private := secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
	if len(chain) == 0 || len(private) == 0 {
		return &secretCertificate{why: "the Secret " + key.String() + " lacks tls.crt or tls.key"}
	}
	pair, err := tls.X509KeyPair(chain, private)
	if err != nil {
		return &secretCertificate{why: "tls.crt and tls.key of the Secret " + key.String() + " are no pair"}
	}
	return &secretCertificate{
		digest: sha256.Sum256(slices.Concat(chain, []byte{0}, private)), dnsNames: pair.Leaf.DNSNames,
		certificate: &model.KongCertificate{
			Origin: origin("Secret", "", "v1", secret), Chain: strings.TrimSpace(string(chain)) + "\n",
			Key: model.NewSecret(strings.TrimSpace(string(private)) + "\n"),
		},
	}
}

// claimCertificates says which certificates the hosts of an object's TLS section are to have.
func (r *run) claimCertificates(owner model.Origin, namespace string, entries []kongapi.StreamTLS) []nameClaim {
	var claims []nameClaim
	for i, entry := range entries {
		if entry.SecretName == "" {
			continue // the default certificate, or one for the host by another entry
		}
		field := "spec.tls[" + strconv.Itoa(i) + "]"
		found, certificate := r.findCertificate(source.Key{Namespace: namespace, Name: entry.SecretName})
		if certificate == nil {
			reason := model.ReasonInvalidCertificate
			if found.missing {
				reason = model.ReasonMissingSecret
			}
			r.problem(owner.Ref, field+".secretName", reason,
				"%s; its last good certificate stays for the hosts of the entry, or another one answers where there was none", found.why)
		}
		secret := model.Origin{Ref: model.Ref{Kind: "Secret", Namespace: namespace, Name: entry.SecretName}}
		hosts := entry.Hosts
		switch {
		case certificate != nil:
			secret = found.certificate.Origin
			if len(hosts) == 0 {
				hosts = found.dnsNames
			}
		case len(hosts) == 0:
			claims = append(claims, nameClaim{object: owner.Ref, field: field, secret: secret})
		}
		for _, host := range hosts {
			name := strings.ToLower(host)
			if !isHost(name) {
				r.problem(owner.Ref, field+".hosts", model.ReasonInvalidHost, "%.100q is no DNS name, nor *. and a DNS name; it is left out", name)
				continue
			}
			claims = append(claims, nameClaim{object: owner.Ref, field: field, name: name, secret: secret, certificate: certificate})
		}
	}
	return claims
}

// claimName gives a server name its certificate, unless an older object has it.
func (r *run) claimName(c nameClaim) {
	if c.beside != "" {
		like, isLost := r.certificates.lost[c.beside]
		if !isLost {
			like = r.certificates.names[c.beside]
		}
		if c.certificate, c.secret = like.certificate, like.secret; !isLost && !r.certificates.covers(c.certificate, c.name) {
			return
		}
	}
	if c.certificate == nil {
		r.loseName(c)
		return
	}
	if older, taken := r.certificates.names[c.name]; taken {
		if older.certificate != c.certificate {
			r.problem(c.object, c.field+".hosts", model.ReasonShadowed, "%s is older and has another certificate for %s, which answers", older.object, c.name)
		}
		return
	}
	r.certificates.names[c.name] = c
	r.out.ServerNames = append(r.out.ServerNames, model.KongServerName{Name: c.name, Certificate: c.certificate, Secret: c.secret})
}

// loseName notes a name whose certificate is not there, unless an older object has the name. A younger one may have it meanwhile.
func (r *run) loseName(c nameClaim) {
	_, taken := r.certificates.names[c.name]
	if _, again := r.certificates.lost[c.name]; taken || again && c.name != "" {
		return
	}
	r.certificates.lost[c.name] = c
	r.out.LostNames = append(r.out.LostNames, model.KongLostName{Name: c.name, Secret: c.secret.Ref, Owner: c.object, Field: c.field})
}

// covers tells whether a certificate is for a name.
func (c *certificates) covers(certificate *model.KongCertificate, name string) bool {
	_, parent, _ := strings.Cut(name, ".")
	return slices.Contains(c.covered[certificate], name) || slices.Contains(c.covered[certificate], "*."+parent)
}

// readDefaultCertificate gives all other server names the certificate that a flag names.
func (r *run) readDefaultCertificate(m *model.Model) {
	for _, id := range m.DefaultCertificates {
		for _, c := range m.Certificates {
			if c.ID != id {
				continue
			}
			if found, _ := r.certificateOf(source.Key{Namespace: c.Owner.Namespace, Name: c.Owner.Name}); found != nil {
				r.out.ServerNames = append(r.out.ServerNames, model.KongServerName{Name: "*", Certificate: found, Secret: found.Origin})
				return
			}
		}
	}
	if key := r.DefaultCertificate; key.Name != "" {
		secret := model.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name}
		r.out.LostNames = append(r.out.LostNames, model.KongLostName{Name: "*", Secret: secret, Owner: secret})
	}
}

// list gives the certificates that a server name or a service uses.
func (c *certificates) list() []*model.KongCertificate {
	slices.SortFunc(c.used, func(a, b *model.KongCertificate) int { return a.Origin.Compare(b.Origin.Ref) })
	return c.used
}
