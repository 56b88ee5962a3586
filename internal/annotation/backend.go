// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var backend = Group{
	Name: "backend", Doc: "Says how to talk to the Service.",
	finish: (*parser).settleBackend,
	Keys: []Key{
		Enum("backend-protocol", Spec{
			Scope: Route, Risk: Low, Default: "HTTP", Example: "GRPC",
			Doc: "The protocol towards the endpoints. HTTPS and GRPCS do not verify the certificate unless proxy-ssl-verify says so. AUTO_HTTP is HTTPS for requests that came over TLS, " +
				"else HTTP. FCGI is FastCGI, with the parameters that nginx' fastcgi_params file has. A route to the global default backend always speaks HTTP.",
			Source: "ngx_http_proxy_module, ngx_http_grpc_module, ngx_http_fastcgi_module", Shape: "One shape for each protocol but HTTP.",
			Differs: "Upper and lower case are the same; there lower case lost headers and timeouts by accident.",
		}, []Option[model.Protocol]{
			{Text: "HTTP", Value: model.HTTP},
			{Text: "HTTPS", Value: model.HTTPS},
			{Text: "AUTO_HTTP", Value: model.AutoHTTP},
			{Text: "GRPC", Value: model.GRPC},
			{Text: "GRPCS", Value: model.GRPCS},
			{Text: "FCGI", Value: model.FCGI},
		}, func(e *Effect, v model.Protocol) { e.Policy.Protocol = v }),

		Parsed("fastcgi-index", "file name", Spec{
			Scope: Route, Risk: Medium, Refused: true, Default: "none", Example: "index.php",
			Doc:    "What is appended to a path that ends in /, for the parameters SCRIPT_NAME and SCRIPT_FILENAME. Only with backend-protocol FCGI.",
			Source: "fastcgi_index of ngx_http_fastcgi_module, done in Lua",
		}, value.FileName, func(e *Effect, v string) { e.fastcgi.index = v }),

		Parsed("fastcgi-params-configmap", "name or namespace/name of a ConfigMap", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "fastcgi", Closes: true,
			Doc: "Every key of the ConfigMap is a FastCGI parameter, in place of a usual one of that name; values may have nginx variables, also $fastcgi_script_name, $document_root, " +
				"$document_uri, $namespace, $ingress_name, $service_name and $service_port. At most 64 names of letters, digits, . - _. A ConfigMap that is missing or holds anything else closes the routes (503). Its changes count at once. Only with backend-protocol FCGI.",
			Source: "fastcgi_param of ngx_http_fastcgi_module", Shape: "Each new set of names is a shape of its own.",
			Differs: "A ConfigMap of another namespace is used where the setting allow-cross-namespace-resources lets it, and closes the routes otherwise.",
		}, anyText, func(e *Effect, _ string) { e.fastcgi.params = true }),

		Parsed("upstream-vhost", "host name with an optional port, or text with variables", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "the client's Host", Example: "internal.example.com", Closes: true,
			Doc:    "The Host header that the backend sees. It may have nginx variables, also $namespace, $ingress_name, $service_name and $service_port. What is neither closes the route (503).",
			Source: "RFC 9110 section 7.2", Shape: "One shape for all routes with it.",
			Differs: "Only letters, digits and - . _ ~ : [ ] beside variables, as no host has others.",
		}, value.HostHeader, func(e *Effect, v model.Template) { e.Policy.Host = v }),

		Parsed("x-forwarded-prefix", "path with $1 to $9", Spec{
			Scope: Route, Risk: Medium, Refused: true, Default: "none", Example: "/$1",
			Doc:    "The X-Forwarded-Prefix header that the backend sees, in which $1 to $9 stand for groups of the rule's path. Only together with a rewrite-target that differs from the path.",
			Source: "the header's use by frameworks, done in Lua",
		}, parseForwardedPrefix, func(e *Effect, v string) { e.Policy.ForwardedPrefix = v }),
	},
}

// fastcgiDraft is what annotations say about FastCGI, whether the backend speaks it or not.
type fastcgiDraft struct {
	index  string
	params bool
}

func (p *parser) settleBackend() {
	policy := &p.effect.Policy
	if p.effect.RewriteTarget == "" && policy.ForwardedPrefix != "" {
		p.without("rewrite-target", "x-forwarded-prefix")
		policy.ForwardedPrefix = ""
	}
	if p.effect.Canary {
		return
	}
	if policy.Protocol != model.FCGI {
		p.without("backend-protocol with the value FCGI", "fastcgi-index", "fastcgi-params-configmap")
		return
	}
	policy.FastCGI = &model.FastCGI{Index: p.effect.fastcgi.index}
	if p.effect.fastcgi.params {
		p.lookup("ConfigMap", "fastcgi-params-configmap", false, func(e *Effect, data map[string][]byte) error {
			params, err := value.FastCGIParams(data)
			e.Policy.FastCGI = &model.FastCGI{Index: e.fastcgi.index, Params: params}
			return err
		})
	}
}

// parseForwardedPrefix is parseRewriteTarget for a value that is no control: a bad one is left out.
func parseForwardedPrefix(text string) (string, error) {
	prefix, err := parseRewriteTarget(strings.ReplaceAll(text, " ", ""))
	var route closing
	if errors.As(err, &route) {
		err = route.error
	}
	return prefix, err
}
