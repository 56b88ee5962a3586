// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"encoding/pem"
	"regexp"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// applyUpstream is about the service behind a route: protocol, times, balancing.
func (t *translation) applyUpstream(r *route, p, d *model.Policy) {
	protocol, ok := t.protocolOf(p.Protocol)
	if !ok || p.FastCGI != nil {
		t.refuse(r, "this protocol of a backend")
		return
	}
	v := &r.variant
	v.protocol = protocol
	if (protocol == "grpc" || protocol == "grpcs") && r.source.Options.Protocols == nil {
		r.Protocols, r.StripPath = []string{"grpc", "grpcs"}, ptr(false)
		if r.source.HTTPSOnly != 0 {
			r.Protocols = []string{"grpcs"}
		}
	}
	if p.Timeouts.Connect != d.Timeouts.Connect {
		v.connectTimeout = milliseconds(p.Timeouts.Connect)
	}
	if p.Timeouts.Read != d.Timeouts.Read {
		v.readTimeout = milliseconds(p.Timeouts.Read)
	}
	if p.Timeouts.Send != d.Timeouts.Send {
		v.writeTimeout = milliseconds(p.Timeouts.Send)
	}
	if p.Retries != d.Retries {
		v.retries = max(0, p.Retries.Tries-1)
		if p.Retries.Tries == 0 && p.Retries.On != 0 {
			v.retries = -1
		}
	}
	if u := p.UpstreamTLS; u != nil {
		plain := *u
		plain.Ciphers, plain.Protocols, plain.SNI = "", "", false
		v.tls = &plain
		t.tellTLS(r, u)
	}
	t.balance(r, p.Balance)
	t.sendHost(r, p.Host)
}

// The annotations' defaults, which are near enough to Kong's.
const (
	usualCiphers   = "DEFAULT"
	usualProtocols = "TLSv1.2"
)

func (t *translation) tellTLS(r *route, u *model.UpstreamTLS) {
	if u.Ciphers != usualCiphers || u.Protocols != usualProtocols {
		t.unsupported(r, "ciphers and versions of TLS towards a backend", "those of Kong's own configuration are in force")
	}
}

// variable is a template of one variable alone.
var variable = regexp.MustCompile(`^\$\{([a-z0-9_]+)\}$`)

// balance chooses the algorithm. Kong's round-robin spreads as evenly as chance does, and one that looks at all endpoints stands in for one that
// looks at two of them.
func (t *translation) balance(r *route, b *model.Balance) {
	if b == nil {
		return
	}
	if b.SlowStart > 0 {
		t.unsupported(r, "slow start", "a new endpoint has its full share at once")
	}
	switch {
	case b.Affinity != nil:
		t.tellAffinity(r, b.Affinity)
		r.upstream().algorithm = "consistent-hashing"
		r.upstream().hash = model.KongHash{Cookie: b.Affinity.Name, CookiePath: b.Affinity.Path}
		if !isPath(b.Affinity.Path) {
			t.unsupported(r, "this path of a cookie of affinity", "it is /")
			r.upstream().hash.CookiePath = "/"
		}
	case b.Algorithm == model.EWMA:
		r.upstream().algorithm = "latency"
	case b.Algorithm == model.LeastConn || b.Algorithm == model.P2C:
		r.upstream().algorithm = "least-connections"
	case b.Algorithm == model.Hash:
		hash, ok := hashOf(b.HashBy)
		if !ok {
			t.unsupported(r, "a hash of "+string(b.HashBy), "requests are spread evenly")
			return
		}
		if b.Subset > 0 {
			t.unsupported(r, "hashing to groups of endpoints", "requests are hashed to one")
		}
		r.upstream().algorithm, r.upstream().hash = "consistent-hashing", hash
	}
}

// tellAffinity reports what Kong's cookies do otherwise.
func (t *translation) tellAffinity(r *route, a *model.Affinity) {
	if a.MaxAge != nil || a.Expires != nil || a.Domain != "" || a.SameSite != "" || a.Secure || a.ChangeOnFailure {
		t.unsupported(r, "attributes of the cookie of affinity but its name and path", "Kong's own are in force")
	}
	if a.Persistent {
		t.unsupported(r, "persistent affinity", "some clients move when endpoints come or go")
	}
	for i := range r.source.Canaries {
		if c := &r.source.Canaries[i]; c.Weight > 0 && (c.Balance == nil || c.Balance.Affinity == nil) {
			t.problem(c.Owner, "metadata.annotations", model.ReasonUnsupported,
				"the Kong data plane has nothing for: a canary by weight without the affinity of its route; clients stay with the canary, or with the route")
		}
	}
}

func (r *route) upstream() *upstreamVariant {
	if r.variant.upstream == nil {
		r.variant.upstream = &upstreamVariant{}
	}
	return r.variant.upstream
}

// hashOf gives what Kong hashes by for a variable.
func hashOf(by model.Template) (model.KongHash, bool) {
	found := variable.FindStringSubmatch(string(by))
	if found == nil {
		return model.KongHash{}, false
	}
	name := found[1]
	switch name {
	case "remote_addr", "binary_remote_addr":
		return model.KongHash{Input: "ip"}, true
	case "request_uri", "uri":
		return model.KongHash{Input: "path"}, true
	}
	for prefix, make := range map[string]func(string) model.KongHash{
		"http_":   func(s string) model.KongHash { return model.KongHash{Header: strings.ReplaceAll(s, "_", "-")} },
		"cookie_": func(s string) model.KongHash { return model.KongHash{Cookie: s, CookiePath: "/"} },
		"arg_":    func(s string) model.KongHash { return model.KongHash{QueryArg: s} },
	} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return make(rest), true
		}
	}
	return model.KongHash{}, false
}

// sendHost sets the Host that the service gets.
func (t *translation) sendHost(r *route, host model.Template) {
	switch {
	case host == "":
	case strings.Contains(string(host), "$"):
		t.unsupported(r, "a Host header with variables", "the client's is sent")
	default:
		r.upstream().hostHeader = string(host)
		r.PreserveHost = ptr(false)
	}
}

// varyTLS gives a service the certificates that a route asks for.
func (t *translation) varyTLS(e *entity.Service, u *model.UpstreamTLS, owner model.Origin) {
	if e.Protocol != "https" && e.Protocol != "grpcs" {
		return // there is no TLS to verify, as with nginx
	}
	if u.Verify {
		e.TLSVerify, e.TLSVerifyDepth = ptr(true), ptr(u.Depth)
		e.CACertificates = t.authoritiesIn(u.CA, owner)
	}
	if u.Name != "" {
		t.unsupportedOf(owner.Ref, "another name to verify the backend by", "")
	}
	if c := u.Certificate; c != nil {
		certificate := &entity.Certificate{
			Meta: t.meta(entity.Certificates, string(c.ID), model.Origin{Ref: c.Owner, Version: "v1"}, "", nil), Cert: c.Chain, Key: c.Key,
		}
		t.add(certificate)
		e.ClientCertificate = entity.RefTo(certificate)
	}
}

// authoritiesIn adds the certificates of a PEM text and gives their ids.
func (t *translation) authoritiesIn(text string, owner model.Origin) []string {
	var ids []string
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return ids
		}
		e := &entity.CACertificate{Cert: string(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))}
		e.Meta = t.meta(entity.CACertificates, e.Digest(), owner, "metadata.annotations", nil)
		if known := t.authorityIDs[e.Digest()]; known != "" {
			e.ID = known
		}
		t.add(e)
		ids = append(ids, e.ID)
	}
}
