// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import "github.com/fairway-ingress/fairway/internal/model"

// Effect is what the annotations of one Ingress ask for, before it is known for which path, host and backend.
type Effect struct {
	// Policy is complete but for these fields: Rewrite is nil, see RewriteTarget; HTTPSRedirect is what is asked for, and whether it happens
	// depends on the host and the path; Fallback and Errors.Backend are zero, see FallbackService.
	Policy model.Policy
	// ForceHTTPSRedirect asks for the redirect also where there is no certificate.
	ForceHTTPSRedirect bool
	// UseRegex says that the paths are regular expressions, for the whole host.
	UseRegex bool
	// RewriteTarget replaces what the path, as an expression, finds; empty means no rewrite.
	RewriteTarget string
	// FallbackService names the Service, in the Ingress's namespace, whose first port is Policy.Fallback and the backend of Policy.Errors.
	FallbackService string
	// VirtualService takes the Service's own address as the only endpoint.
	VirtualService bool
	// Host is what is asked for the hosts of the Ingress as a whole.
	Host HostEffect
	// Health is how the endpoints of the Services that the Ingress names are to be judged.
	Health model.Health
	// StreamSnippet is raw nginx configuration for the stream block.
	StreamSnippet model.Snippet
	// Canary says that the Ingress shares the routes of others by CanaryRule, of which Owner and Backend are not set.
	Canary     bool
	CanaryRule model.Canary
	// NoAffinity keeps a canary from taking part in the affinity of the routes that it joins.
	NoAffinity bool
	// CanaryClosed, when not empty, is why the canary must not take any request.
	CanaryClosed string
	// Closed, when not empty, is why every route of the Ingress is answered with 503.
	Closed string
	// Lookups are the objects that annotations name. Until each was resolved, the effect lacks what they say.
	Lookups []Lookup

	// What several keys of a group say together; the group's finish makes a policy of it.
	login    loginDraft
	external externalDraft
	client   clientDraft
	upstream upstreamDraft
	session  sessionDraft
	balance  balanceDraft
	limit    limitDraft
	cors     corsDraft
	redirect redirectDraft
	errors   errorsDraft
	mirror   mirrorDraft
	waf      wafDraft
	tracing  tracingDraft
	misnamed []string // what is wrong with items of server-alias
	fastcgi  fastcgiDraft
	response responseDraft
	check    checkDraft
	outlier  model.Outlier
}

// HostEffect is what an Ingress asks for its hosts. Of several Ingresses the oldest that asks for a thing has it.
type HostEffect struct {
	// Aliases are further names, lower case; Patterns expressions for such.
	Aliases, Patterns []string
	// AppRoot is where "/" redirects to.
	AppRoot string
	// WWW makes the counterpart of each name, with or without "www.", redirect to it.
	WWW bool
	// TLS is nil when nothing is asked for. Of two Ingresses, client certificates and ciphers may come from different ones.
	TLS *model.HostTLS
	// Closed, when not empty, is why the whole host is answered with 403.
	Closed string
	// Snippet is raw nginx configuration for the host.
	Snippet model.Snippet
	// Passthrough leaves TLS to the backend of the path "/".
	Passthrough bool
}

// Lookup is an object that an annotation names, and what is done with its content.
type Lookup struct {
	Ref model.Ref // of a Secret or a ConfigMap
	// Key is the annotation's name, with the prefix.
	Key string
	// Use reads the object's data into the effect; data is nil when there is no such object. It is not called
	// twice on one effect. An error closes what Close says.
	Use func(e *Effect, data map[string][]byte) error
	// ClosesHost says that an error closes the host, not only the routes.
	ClosesHost bool
}

// newEffect is the effect of no annotation at all.
func newEffect(defaults *model.Settings) *Effect {
	e := &Effect{
		Policy:             defaults.Route,
		ForceHTTPSRedirect: defaults.ForceHTTPSRedirect,
		VirtualService:     defaults.VirtualServices,
		CanaryRule:         model.Canary{WeightTotal: 100},
		cors:               newCORSDraft(),
		check:              newCheckDraft(),
		outlier:            newOutlierDraft(),
	}
	e.Policy.ExternalAuth = defaults.GlobalAuth
	return e
}

// Snippet is raw configuration that an annotation holds.
type Snippet struct {
	Key string // of the annotation, without the prefix
	model.Snippet
}

// Snippets gives the raw configurations that the effect asks for.
func (e *Effect) Snippets() []Snippet {
	var list []Snippet
	add := func(key string, s model.Snippet) {
		if s != "" {
			list = append(list, Snippet{key, s})
		}
	}
	add("configuration-snippet", e.Policy.Snippet)
	add("server-snippet", e.Host.Snippet)
	add("stream-snippet", e.StreamSnippet)
	if a := e.Policy.ExternalAuth; a != nil {
		add("auth-snippet", a.Snippet)
	}
	if w := e.Policy.WAF; w != nil {
		add("modsecurity-snippet", w.Rules)
	}
	return list
}
