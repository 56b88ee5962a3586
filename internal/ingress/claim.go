// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/value"
)

// claims is what one Ingress asks for, regardless of all other objects.
type claims struct {
	ingress  *netv1.Ingress // the object they were read from, or an equal one
	prefix   string         // of annotations
	ref      model.Ref
	effect   *annotation.Effect
	hosts    []*hostClaim
	tls      []tlsEntry
	problems []model.Problem
	// named are the objects that the annotations name, as they were read.
	named []namedObject
	// snippets says that there is raw configuration, which may be refused.
	snippets bool
}

// namedObject is an object that was looked up for claims: one of the pointers, or none when there was no such object.
type namedObject struct {
	kind      string
	key       source.Key
	secret    *corev1.Secret
	configMap *corev1.ConfigMap
	service   *corev1.Service
}

// lookUp finds an object of a snapshot.
func lookUp(kind string, key source.Key, snapshot *source.Snapshot) namedObject {
	n := namedObject{kind: kind, key: key}
	switch kind {
	case "Secret":
		n.secret = snapshot.Secrets[key]
	case "ConfigMap":
		n.configMap = snapshot.ConfigMaps[key]
	case "Service":
		n.service = snapshot.Services[key]
	default:
		panic("nobody looks up a " + kind)
	}
	return n
}

// data gives the object's content, nil when there is no such object.
func (n namedObject) data() map[string][]byte {
	switch {
	case n.secret != nil && n.secret.Data != nil:
		return n.secret.Data
	case n.configMap != nil:
		data := make(map[string][]byte, len(n.configMap.Data))
		for key, value := range n.configMap.Data {
			data[key] = []byte(value)
		}
		return data
	case n.secret != nil:
		return map[string][]byte{}
	}
	return nil
}

// stale tells whether an object that the claims were read from is another now.
func (c *claims) stale(snapshot *source.Snapshot) bool {
	for _, n := range c.named {
		if lookUp(n.kind, n.key, snapshot) != n {
			return true
		}
	}
	return false
}

// resolve reads the objects that the annotations name into the effect.
func (c *claims) resolve(snapshot *source.Snapshot) {
	for _, l := range c.effect.Lookups {
		n := lookUp(l.Ref.Kind, source.Key{Namespace: l.Ref.Namespace, Name: l.Ref.Name}, snapshot)
		c.named = append(c.named, n)
		if problem := c.effect.Resolve(c.ref, l, n.data()); problem != nil {
			c.problems = append(c.problems, *problem)
		}
	}
	if name := c.effect.FallbackService; name != "" {
		n := lookUp("Service", source.Key{Namespace: c.ref.Namespace, Name: name}, snapshot)
		c.named = append(c.named, n)
		c.useFallback(n.service)
	}
}

// refuse closes the routes whose raw configuration the data plane does not take, and takes it out.
func (c *claims) refuse(refused map[string]string) {
	for _, s := range c.effect.Snippets() {
		c.snippets = true
		reason, found := refused[string(s.Snippet)]
		if !found {
			continue
		}
		c.effect.Closed = cmp.Or(c.effect.Closed, "annotation "+s.Key+" is refused by nginx")
		c.problem("metadata.annotations["+c.prefix+"/"+s.Key+"]", model.ReasonInvalidSnippet,
			"nginx refuses it: %s; the routes of this Ingress answer 503 until it is repaired", reason)
		p := &c.effect.Policy
		p.Snippet, c.effect.Host.Snippet, c.effect.StreamSnippet = "", "", ""
		p.WAF, p.ExternalAuth = nil, nil
	}
}

// useFallback takes the first port of the Service that default-backend names.
func (c *claims) useFallback(service *corev1.Service) {
	if service == nil || len(service.Spec.Ports) == 0 {
		c.problem("metadata.annotations["+c.prefix+"/default-backend]", model.ReasonMissingService,
			"there is no Service %s/%s with a port; nobody stands in for the Services of the rules", c.ref.Namespace, c.effect.FallbackService)
		return
	}
	id := model.BackendID{Namespace: c.ref.Namespace, Service: service.Name, Port: strconv.Itoa(int(service.Spec.Ports[0].Port))}
	c.effect.Policy.Fallback = id
	if old := c.effect.Policy.Errors; old != nil {
		errors := *old
		errors.Backend = id
		c.effect.Policy.Errors = &errors
	}
}

// hostClaim is what one Ingress asks for one host.
type hostClaim struct {
	*claims
	name  string
	field string // of the first rule that names the host
	paths []*pathClaim
	// root is what answers where no path matches, if this claim is the first for its host.
	root model.BackendID
}

// bare tells whether the claim is no more than the spec.defaultBackend of an Ingress without rules.
func (h *hostClaim) bare() bool { return len(h.paths) == 1 && h.paths[0].bare }

// namesCanary tells whether the Ingress has the annotation canary, whatever its value.
func (c *claims) namesCanary() bool {
	_, present := c.ingress.Annotations[c.prefix+"/canary"]
	return present
}

// pathClaim is one path of a hostClaim.
type pathClaim struct {
	host    *hostClaim
	field   string
	path    string
	exact   bool
	backend model.BackendID
	// bare marks the spec.defaultBackend of an Ingress without rules, for which redirects and rewrites do not count.
	bare bool
	// implicit marks the root that nobody declared.
	implicit bool
	// stub, when not empty, is the literal beginning of a path that should be an expression and is none. It is closed.
	stub string
}

// tlsEntry is one entry of spec.tls.
type tlsEntry struct {
	field  string
	hosts  []string   // lower case
	secret source.Key // zero when the default certificate is asked for
}

// readClaims reads one Ingress.
func readClaims(prefix string, ing *netv1.Ingress, settings *model.Settings, snapshot *source.Snapshot) *claims {
	c := &claims{ingress: ing, ref: ingressRef(ing), prefix: cmp.Or(prefix, annotation.DefaultPrefix)}
	c.effect, c.problems = annotation.Parse(prefix, c.ref, ing.Annotations, settings)
	c.resolve(snapshot)
	c.effect.VerifyCheck()
	c.refuse(snapshot.Refused)
	root := c.readDefaultBackend()
	byName := map[string]*hostClaim{}
	for i := range ing.Spec.Rules {
		c.readRule(&ing.Spec.Rules[i], i, byName)
	}
	for _, h := range c.hosts {
		if h.name != model.CatchAll {
			h.root = root
		}
	}
	if !root.IsZero() && (len(ing.Spec.Rules) == 0 || c.effect.Canary) {
		h := c.host(model.CatchAll, "spec.defaultBackend", byName)
		h.paths = append(h.paths, &pathClaim{host: h, field: "spec.defaultBackend", path: "/", backend: root, bare: true})
	}
	for i, entry := range ing.Spec.TLS {
		t := tlsEntry{field: fmt.Sprintf("spec.tls[%d]", i)}
		if entry.SecretName != "" {
			t.secret = source.Key{Namespace: ing.Namespace, Name: entry.SecretName}
		}
		for _, name := range entry.Hosts {
			t.hosts = append(t.hosts, strings.ToLower(name))
		}
		c.tls = append(c.tls, t)
	}
	return c
}

// sameClaims tells whether two versions of an Ingress ask for the same: a status update, for one, changes nothing.
func sameClaims(a, b *netv1.Ingress) bool {
	return a.CreationTimestamp.Equal(&b.CreationTimestamp) && maps.Equal(a.Annotations, b.Annotations) && reflect.DeepEqual(a.Spec, b.Spec)
}

func (c *claims) problem(field, reason, format string, args ...any) {
	c.problems = append(c.problems, model.Problem{Object: c.ref, Field: field, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

func (c *claims) readDefaultBackend() model.BackendID {
	written := c.ingress.Spec.DefaultBackend
	if written == nil {
		return model.BackendID{}
	}
	id, why := c.readBackend(written)
	if why != "" {
		c.problem("spec.defaultBackend", model.ReasonInvalidBackend, "%s; the field has no effect", why)
	}
	return id
}

// readBackend gives the ID of a backend, or why there is none.
func (c *claims) readBackend(written *netv1.IngressBackend) (id model.BackendID, why string) {
	service := written.Service
	switch {
	case service == nil && written.Resource != nil:
		return id, "only Services can be backends, not " + strconv.Quote(written.Resource.Kind)
	case service == nil || service.Name == "":
		return id, "the backend names no Service"
	}
	id = model.BackendID{Namespace: c.ref.Namespace, Service: service.Name, Port: service.Port.Name, Virtual: c.effect.VirtualService}
	if id.Port == "" {
		id.Port = strconv.Itoa(int(service.Port.Number))
	}
	return id, ""
}

func (c *claims) readRule(rule *netv1.IngressRule, i int, byName map[string]*hostClaim) {
	field := "spec.rules[" + strconv.Itoa(i) + "]"
	name := strings.ToLower(rule.Host)
	if name == "" {
		name = model.CatchAll
	} else if !isHostName(name) {
		c.problem(field+".host", model.ReasonInvalidHost, "%.100q is no DNS name, nor *. and a DNS name; the rule is ignored", rule.Host)
		return
	}
	h := c.host(name, field, byName)
	if rule.HTTP == nil {
		return
	}
	for j := range rule.HTTP.Paths {
		c.readPath(h, &rule.HTTP.Paths[j], field+".http.paths["+strconv.Itoa(j)+"]")
	}
}

// host gives the claim on the host of that name, which it makes when the Ingress has none yet.
func (c *claims) host(name, field string, byName map[string]*hostClaim) *hostClaim {
	h := byName[name]
	if h == nil {
		h = &hostClaim{claims: c, name: name, field: field}
		byName[name] = h
		c.hosts = append(c.hosts, h)
	}
	return h
}

func (c *claims) readPath(h *hostClaim, written *netv1.HTTPIngressPath, field string) {
	p := &pathClaim{host: h, field: field, path: written.Path}
	if p.path == "" {
		p.path = "/"
	}
	if t := written.PathType; t != nil {
		switch *t {
		case netv1.PathTypeExact:
			p.exact = true
		case netv1.PathTypePrefix, netv1.PathTypeImplementationSpecific:
		default:
			c.problem(field+".pathType", model.ReasonInvalidPath, "%.40q is no path type; the path is not served", *t)
			return
		}
	}
	if why := checkPath(p.path); why != "" {
		c.problem(field+".path", model.ReasonInvalidPath, "the path %s; it is not served", why)
		return
	}
	if p.wantsRegex() {
		if _, err := value.Pattern(p.path); err != nil {
			now := "it is not served"
			if p.stub = literalStart(p.path); p.stub != "" {
				now = "requests that begin with " + p.stub + " answer 503, unless a longer path takes them"
			}
			c.problem(field+".path", model.ReasonInvalidPath, "use-regex or rewrite-target make the path a regular expression, but it %v; %s", err, now)
			if p.stub == "" {
				return
			}
		}
	}
	p.checkCookiePath()
	var why string
	if p.backend, why = c.readBackend(&written.Backend); why != "" {
		c.problem(field+".backend", model.ReasonInvalidBackend, "%s; the path is not served", why)
		return
	}
	h.paths = append(h.paths, p)
}

// rewrites tells whether the path is rewritten: a target equal to the path is no rewrite.
func (p *pathClaim) rewrites() bool {
	target := p.host.effect.RewriteTarget
	return target != "" && target != p.path && !p.bare && p.stub == ""
}

// wantsRegex tells whether the path puts its host into regex mode.
func (p *pathClaim) wantsRegex() bool {
	return p.rewrites() || p.stub != "" || p.host.effect.UseRegex && !p.bare
}

// literalStart gives the text with which every request begins that a broken expression may have meant, or "" when it is no more than "/": closing that
// would close what others serve. What a path was to protect must not fall to the next shorter path of its host.
func literalStart(path string) string {
	const most = 128
	end := strings.IndexAny(path, `\.+*?()|[]{}^$`)
	switch {
	case hasAlternatives(path):
		return ""
	case end < 0:
		end = len(path)
	case strings.IndexByte("*?{", path[end]) >= 0:
		end-- // the letter before is optional
	}
	end = min(end, most)
	if end <= 1 {
		return ""
	}
	return strings.ToValidUTF8(path[:end], "")
}

// hasAlternatives tells whether there is a "|" outside of all groups, so that the expression has no common beginning.
func hasAlternatives(path string) bool {
	depth := 0
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			if depth <= 0 {
				return true
			}
		}
	}
	return false
}

// maxPath bounds a path, in bytes; more does not fit into a request line anyway.
const maxPath = 4096

// checkPath says what is wrong with a path, if anything.
func checkPath(path string) string {
	switch {
	case path[0] != '/':
		return "does not begin with /"
	case len(path) > maxPath:
		return fmt.Sprintf("is longer than %d bytes", maxPath)
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "contains control characters"
	}
	return ""
}

// isHostName tells whether name is a lower-case DNS name (RFC 1123), or "*." and one.
func isHostName(name string) bool {
	name = strings.TrimPrefix(name, "*.")
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
				return false
			}
		}
	}
	return true
}
