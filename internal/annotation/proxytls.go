// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// upstreamDraft is what the keys say about the certificates of backends.
type upstreamDraft struct {
	model.UpstreamTLS
	owner model.Ref // the Secret
}

const upstreamShape = "Each different way to verify, name and identify is a shape of its own, and its connections are not shared with others."

var proxyTLS = Group{
	Name: "proxy-tls", finish: finishUpstreamTLS,
	Doc: "Verifies the certificates of backends that speak HTTPS or GRPCS, and shows them one. All keys need proxy-ssl-secret and count for the routes of the Ingress, whatever the " +
		"setting proxy-ssl-location-only says.",
	Keys: []Key{
		Parsed("proxy-ssl-ciphers", "OpenSSL cipher list", Spec{
			Scope: Route, Risk: Medium, Default: defaultCiphers, Example: "HIGH:!aNULL:!SHA1", Shape: upstreamShape,
			Doc:    "The ciphers of TLS 1.2 that backends are offered: suites and groups of OpenSSL, with !, - and + before them and @STRENGTH.",
			Source: "proxy_ssl_ciphers of ngx_http_proxy_module, ciphers(1)",
		}, parseCiphers, func(e *Effect, v string) { e.upstream.Ciphers = v }),

		Parsed("proxy-ssl-name", "host name, with variables", Spec{
			Scope: Route, Risk: High, Default: "SERVICE.NAMESPACE.svc", Example: "internal.example.com", Closes: true, Shape: upstreamShape,
			Doc:     "The name that the backend's certificate must be for, and that is sent as SNI with proxy-ssl-server-name. That of a canary must be for it too.",
			Source:  "proxy_ssl_name of ngx_http_proxy_module",
			Differs: "Without it there is the name of the Service, under which certificates are issued in clusters; there it was a name internal to nginx, which no certificate has.",
		}, parseServerName, func(e *Effect, v model.Template) { e.upstream.Name = v }),

		Parsed("proxy-ssl-protocols", "TLSv1.2, TLSv1.3 or both, with a blank between", Spec{
			Scope: Route, Risk: Low, Default: "TLSv1.2", Example: "TLSv1.2 TLSv1.3", Shape: upstreamShape,
			Doc:    "The TLS versions that backends are offered.",
			Source: "proxy_ssl_protocols of ngx_http_proxy_module",
		}, parseBackendProtocols, func(e *Effect, v string) { e.upstream.Protocols = v }),

		Parsed("proxy-ssl-secret", "namespace/name of a Secret", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "default/backend-ca", Shape: upstreamShape,
			Doc: "The Secret whose ca.crt signs the certificates of backends, and whose tls.crt and tls.key, if there are any, are shown to them. A Secret that is missing, holds neither " +
				"or holds anything else there closes the routes. Another namespace needs the setting allow-cross-namespace-resources.",
			Source: "proxy_ssl_trusted_certificate, proxy_ssl_certificate of ngx_http_proxy_module",
			Differs: "It has no effect on other routes of the host, counts for GRPCS too, and its certificate is shown also without ca.crt. Private keys are never written to disk, and a changed " +
				"Secret counts at once.",
		}, present, func(*Effect, string) {}),

		Enum("proxy-ssl-server-name", Spec{
			Scope: Route, Risk: Low, Default: "off", Example: "on", Shape: upstreamShape,
			Doc:    "Whether backends are sent proxy-ssl-name as SNI (RFC 6066).",
			Source: "proxy_ssl_server_name of ngx_http_proxy_module",
		}, onOff, func(e *Effect, v bool) { e.upstream.SNI = v }),

		Enum("proxy-ssl-verify", Spec{
			Scope: Route, Risk: Low, Default: "off", Example: "on", Closes: true, Shape: upstreamShape,
			Doc:     "Whether a backend must show a certificate of an authority in ca.crt; one that does not gets no request, and the answer is 502.",
			Source:  "proxy_ssl_verify of ngx_http_proxy_module",
			Differs: "on without a Secret that has ca.crt closes the routes; there nothing was verified.",
		}, onOff, func(e *Effect, v bool) { e.upstream.Verify = v }),

		Int("proxy-ssl-verify-depth", Spec{
			Scope: Route, Risk: Low, Default: "1", Example: "2", Shape: upstreamShape,
			Doc:    "How many authorities may stand between the backend's certificate and one in ca.crt. 0 counts as 1.",
			Source: "proxy_ssl_verify_depth of ngx_http_proxy_module",
		}, func(e *Effect, v int) { e.upstream.Depth = min(v, mostDepth) }),
	},
}

// mostDepth is deeper than any chain.
const mostDepth = 100

var onOff = []Option[bool]{{Text: "on", Value: true}, {Text: "off"}}

// finishUpstreamTLS makes the policy of what the keys say.
func finishUpstreamTLS(p *parser) {
	if p.effect.Canary {
		return
	}
	if !p.has("proxy-ssl-secret") {
		if p.effect.upstream.Verify {
			p.close("proxy-ssl-verify", model.ReasonInvalidAnnotation, "needs the annotation proxy-ssl-secret, which says whom to trust")
		}
		p.without("proxy-ssl-secret", "proxy-ssl-ciphers", "proxy-ssl-name", "proxy-ssl-protocols", "proxy-ssl-server-name", "proxy-ssl-verify-depth")
		return
	}
	if speaksTLS := p.effect.Policy.Protocol; speaksTLS != model.HTTPS && speaksTLS != model.GRPCS && speaksTLS != model.AutoHTTP {
		p.problem("proxy-ssl-secret", model.ReasonInvalidAnnotation, "without TLS to the backend this annotation has no effect; set backend-protocol to HTTPS or GRPCS")
	}
	d := &p.effect.upstream
	d.Depth = max(d.Depth, 1)
	if d.Ciphers == "" {
		d.Ciphers = defaultCiphers
	}
	if d.Protocols == "" {
		d.Protocols = "TLSv1.2"
	}
	d.owner = p.lookupSecret("proxy-ssl-secret", false, useUpstreamSecret)
}

// useUpstreamSecret completes the policy with what the Secret holds.
func useUpstreamSecret(e *Effect, data map[string][]byte) error {
	t := e.upstream.UpstreamTLS
	var err error
	if t.CA, err = readAuthorities(data); err != nil {
		return err
	}
	if t.Certificate, err = readIdentity(e.upstream.owner, data); err != nil {
		return err
	}
	switch {
	case t.CA == "" && t.Verify:
		return errors.New("names a Secret without ca.crt, which proxy-ssl-verify needs")
	case t.CA == "" && t.Certificate == nil:
		return errors.New("names a Secret that has neither ca.crt nor tls.crt")
	}
	switch e.Policy.Protocol {
	case model.HTTPS, model.GRPCS, model.AutoHTTP:
		e.Policy.UpstreamTLS = &t
	}
	return nil
}

// parseServerName reads a host name or an address, or text with variables that gives one.
func parseServerName(text string) (model.Template, error) {
	template, err := value.TemplateOf("-.:")(text)
	if err != nil || strings.Contains(string(template), "${") {
		return template, err
	}
	name := strings.TrimSuffix(string(template), ".")
	if _, err := netip.ParseAddr(name); err != nil && !value.IsHostName(name) {
		return "", errors.New("is no host name")
	}
	return model.Template(name), nil
}

// parseBackendProtocols reads versions and puts them in order.
func parseBackendProtocols(text string) (string, error) {
	known := []string{"TLSv1.2", "TLSv1.3"}
	words := strings.Fields(text)
	for _, word := range words {
		if !slices.Contains(known, word) {
			return "", fmt.Errorf("has other words than %s", strings.Join(known, " and "))
		}
	}
	if len(words) == 0 {
		return "", errors.New("names no protocol")
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " "), nil
}
