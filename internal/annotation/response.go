// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// responseShape is said of keys that let Lua look at responses.
const responseShape = "One shape for all routes with changed responses."

var response = Group{
	Name: "response", Doc: "Changes the headers of responses.",
	finish: (*parser).settleResponse,
	Keys: []Key{
		Parsed("custom-headers", "name or namespace/name of a ConfigMap", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "headers", Closes: true,
			Doc: "Every key of the ConfigMap is a header of every response, in place of the backend's. The setting global-allowed-response-headers must list the names. " +
				"A ConfigMap that is missing, or holds anything else, closes the routes (503). Its changes count at once.",
			Source: "ngx.header of lua-nginx-module", Shape: responseShape,
			Differs: "A ConfigMap of another namespace needs the setting allow-cross-namespace-resources; a name alone is one of the Ingress's own namespace; upper and lower case of header names are the same.",
		}, anyText, func(e *Effect, _ string) { e.response.headers = true }),

		Parsed("proxy-cookie-domain", "off, or two domains", Spec{
			Scope: Route, Risk: Medium, Default: "off", Setting: "proxy-cookie-domain", Example: "inner.example.com example.com",
			Doc:    "In cookies of the backend whose Domain is the first, whatever the case, it becomes the second. Dots before domains do not matter.",
			Source: "proxy_cookie_domain of " + proxyModule + ", done in Lua", Shape: responseShape, Differs: noExpressions,
		}, value.CookieDomain, func(e *Effect, v *model.Replacement) { e.Policy.CookieDomain = v }),

		Parsed("proxy-cookie-path", "off, or two paths", Spec{
			Scope: Route, Risk: Medium, Default: "off", Setting: "proxy-cookie-path", Example: "/inner/ /",
			Doc:    "In cookies of the backend whose Path begins with the first, that becomes the second.",
			Source: "proxy_cookie_path of " + proxyModule + ", done in Lua", Shape: responseShape, Differs: noExpressions,
		}, value.CookiePath, func(e *Effect, v *model.Replacement) { e.Policy.CookiePath = v }),

		Parsed("proxy-redirect-from", "beginning of a URL, off or default", Spec{
			Scope: Route, Risk: Medium, Default: "off", Setting: "proxy-redirect-from", Example: "http://inner.example.com/",
			Doc:    "Where Location and Refresh of the backend begin with this, proxy-redirect-to comes in its place. default is the same as off: the backend does not know the name that nginx has for it.",
			Source: "proxy_redirect of " + proxyModule + ", done in Lua", Shape: responseShape, Differs: noExpressions,
		}, value.LocationPart, func(e *Effect, v string) { e.response.from = &v }),

		Parsed("proxy-redirect-to", "beginning of a URL, or off", Spec{
			Scope: Route, Risk: Medium, Default: "off", Setting: "proxy-redirect-to", Example: "https://example.com/",
			Doc:    "What comes in place of proxy-redirect-from; off changes nothing.",
			Source: "proxy_redirect of " + proxyModule + ", done in Lua", Shape: responseShape,
		}, value.LocationPart, func(e *Effect, v string) { e.response.to = &v }),
	},
}

const noExpressions = "A value that begins with ~ is refused, as there are no regular expressions."

// responseDraft is what annotations say about Location, nil where they say nothing, and whether they name headers.
type responseDraft struct {
	from, to *string
	headers  bool
}

// anyText takes any value, for keys that the finish of their group reads.
func anyText(text string) (string, error) { return text, nil }

func (p *parser) settleResponse() {
	if d := p.effect.response; d.from != nil || d.to != nil {
		from, to := p.settings.RedirectFrom, p.settings.RedirectTo
		if d.from != nil {
			from = *d.from
		}
		if d.to != nil {
			to = *d.to
		}
		p.effect.Policy.Location = model.NewReplacement(from, to)
		if d.to != nil && to != "" && from == "" {
			p.problem("proxy-redirect-to", model.ReasonInvalidAnnotation, "without a proxy-redirect-from to replace this one has no effect; set it or remove this one")
		}
	}
	if p.effect.response.headers {
		allowed := p.settings.AllowedResponseHeaders
		p.lookup("ConfigMap", "custom-headers", false, func(e *Effect, data map[string][]byte) error { return e.addHeaders(data, allowed) })
	}
}

// framing are headers that say where a response ends and what becomes of its connection.
var framing = []string{"Connection", "Content-Length", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// addHeaders sets the headers of a ConfigMap, if the admin allows them all.
func (e *Effect) addHeaders(data map[string][]byte, allowed []string) error {
	headers, err := value.Headers(data)
	if err != nil {
		return fmt.Errorf("names a ConfigMap that %w", err)
	}
	for _, h := range headers {
		if slices.Contains(framing, h.Name) {
			return fmt.Errorf("names a ConfigMap with the header %s, which is the proxy's own", h.Name)
		}
		if !slices.ContainsFunc(allowed, func(name string) bool { return strings.EqualFold(name, h.Name) }) {
			return fmt.Errorf("names a ConfigMap with the header %s, which the setting global-allowed-response-headers does not list", h.Name)
		}
	}
	all := append(slices.Clone(e.Policy.ResponseHeaders), headers...)
	slices.SortStableFunc(all, func(a, b model.Header) int { return cmp.Compare(a.Name, b.Name) })
	e.Policy.ResponseHeaders = all
	return nil
}
