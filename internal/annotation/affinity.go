// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var affinity = Group{
	Name: "affinity", Doc: "Keeps a client on one endpoint of the Ingress's own routes by a cookie. It overrides the keys of the group balance.",
	Keys: []Key{
		Enum("affinity", Spec{
			Scope: Route, Risk: Low, Default: "none", Example: "cookie",
			Doc: "cookie sends the first request of a client to a random endpoint, and with the response a cookie that leads further requests there. Its value says " +
				"nothing readable; HttpOnly is always set.",
			Source:  "RFC 6265",
			Differs: "It concerns the routes of this Ingress alone; there the first and the last Ingress with the Service and port decided together.",
		}, []Option[bool]{{Text: "cookie", Value: true}}, func(e *Effect, v bool) { e.session.on = v }),

		Enum("affinity-canary-behavior", Spec{
			Scope: Ingress, Risk: Low, Default: "sticky", Example: "legacy", OnCanary: true,
			Doc: "On a canary of routes with affinity. sticky: the canary's clients get the cookie too, and who holds a cookie stays where it leads, " +
				"whatever header, cookie and weight of the canary say. legacy: the canary sets no cookie, and its rules decide about each request that has no cookie of the route's own Service.",
			Source: "Fairway",
		}, []Option[bool]{{Text: "sticky"}, {Text: "legacy", Value: true}}, func(e *Effect, v bool) { e.NoAffinity = v }),

		Enum("affinity-mode", Spec{
			Scope: Route, Risk: Medium, Default: "balanced", Example: "persistent",
			Doc: "balanced: when endpoints come or go, their share of the clients moves, with the cookie that they have. persistent: clients move only when their " +
				"endpoint is gone, and then get another cookie.",
			Source: "Fairway",
		}, []Option[bool]{{Text: "balanced"}, {Text: "persistent", Value: true}}, func(e *Effect, v bool) { e.session.Persistent = v }),

		Bool("session-cookie-change-on-failure", Spec{
			Scope: Route, Risk: Low, Default: "false", Example: "true",
			Doc:    "When the endpoint of the cookie fails, the next try goes to another one and the client gets its cookie. false tries the same endpoint again.",
			Source: "Fairway",
		}, func(e *Effect, v bool) { e.session.ChangeOnFailure = v }),

		Bool("session-cookie-conditional-samesite-none", Spec{
			Scope: Route, Risk: Low, Default: "false", Example: "true",
			Doc:    "Leaves SameSite=None out for browsers that mishandle it: Chrome up to 69, everything on iOS 12, Safari on macOS 10.14.",
			Source: "RFC 6265bis",
		}, func(e *Effect, v bool) { e.session.SameSiteUnlessBroken = v }),

		Parsed("session-cookie-domain", "domain name", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "example.com",
			Doc: "The attribute Domain of the cookie.", Source: "RFC 6265 section 5.2.3",
			Differs: "It must be a domain name, which may begin with a dot.",
		}, parseCookieDomain, func(e *Effect, v string) { e.session.Domain = v }),

		Parsed("session-cookie-expires", "seconds, which may be negative", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "172800",
			Doc: "The attribute Expires of the cookie is so long after the response.", Source: "RFC 6265 section 5.2.1",
		}, parseLifetime, func(e *Effect, v int) { e.session.Expires = &v }),

		Parsed("session-cookie-max-age", "seconds, which may be negative", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "172800",
			Doc: "The attribute Max-Age of the cookie.", Source: "RFC 6265 section 5.2.2",
		}, parseLifetime, func(e *Effect, v int) { e.session.MaxAge = &v }),

		Parsed("session-cookie-name", "cookie name", Spec{
			Scope: Route, Risk: Medium, Default: usualCookie, Example: "route",
			Doc: "The name of the cookie.", Source: "RFC 6265 section 4.1.1",
			Differs: "It must be a token; there /, : and ~ passed too.",
		}, value.Token, func(e *Effect, v string) { e.session.Name = v }),

		Parsed("session-cookie-path", "path", Spec{
			Scope: Route, Risk: Medium, Default: "the path of the rule", Example: "/",
			Doc: "The attribute Path of the cookie. Without it, paths that are regular expressions have /.", Source: "RFC 6265 section 5.2.4",
			Differs: "It must begin with /, as browsers ignore it otherwise. Without it, a regular expression is not sent as path.",
		}, parseCookiePath, func(e *Effect, v string) { e.session.Path = v }),

		Enum("session-cookie-samesite", Spec{
			Scope: Route, Risk: Low, Default: "none", Example: "Lax",
			Doc: "The attribute SameSite of the cookie.", Source: "RFC 6265bis",
			Differs: "Upper and lower case are the same; there all but the spellings given here left the attribute out.",
		}, []Option[string]{{Text: "None", Value: "None"}, {Text: "Lax", Value: "Lax"}, {Text: "Strict", Value: "Strict"}},
			func(e *Effect, v string) { e.session.SameSite = v }),

		Bool("session-cookie-secure", Spec{
			Scope: Route, Risk: Low, Default: "true for requests over TLS", Example: "true",
			Doc:    "Sets the attribute Secure of the cookie also for requests over plain HTTP. Over TLS it is always set.",
			Source: "RFC 6265 section 5.2.5",
		}, func(e *Effect, v bool) { e.session.Secure = v }),
	},
	finish: finishAffinity,
}

const usualCookie = "INGRESSCOOKIE"

// sessionDraft is what the keys of the group affinity say. Its Path is empty where the rules' paths count.
type sessionDraft struct {
	on bool
	model.Affinity
}

func finishAffinity(p *parser) {
	draft := &p.effect.session
	if p.effect.Canary {
		return // it has the affinity of the route, or none
	}
	if p.has("affinity-canary-behavior") {
		p.problem("affinity-canary-behavior", model.ReasonInvalidAnnotation, "counts on a canary alone; set it there or remove it")
	}
	if !p.has("affinity") {
		for _, name := range slices.Sorted(maps.Keys(p.given)) {
			if name == "affinity-mode" || strings.HasPrefix(name, "session-cookie-") {
				p.without("affinity", name)
			}
		}
	}
	if !draft.on {
		return
	}
	if draft.Name == "" {
		draft.Name = usualCookie
	}
	var balance model.Balance
	if b := p.effect.Policy.Balance; b != nil {
		balance = *b
	}
	balance.Affinity = &draft.Affinity
	p.effect.Policy.Balance = &balance
}

// parseCookieDomain reads a domain name that may begin with a dot.
func parseCookieDomain(text string) (string, error) {
	text = strings.ReplaceAll(text, " ", "")
	if !value.IsHostName(strings.TrimPrefix(text, ".")) {
		return "", errors.New("is no domain name")
	}
	return text, nil
}

// parseCookiePath reads a path of the characters that the predecessor takes, and "%".
func parseCookiePath(text string) (string, error) {
	text = strings.ReplaceAll(text, " ", "")
	if !strings.HasPrefix(text, "/") || len(text) > 1024 || !value.Only(text, value.IsLetterOrDigit, "-._~/:,?&=%") {
		return "", errors.New("is no path that begins with / and is made of letters, digits and - . _ ~ / : , ? & = %")
	}
	return text, nil
}

// parseLifetime reads seconds, at most a hundred years in either direction.
func parseLifetime(text string) (int, error) {
	const most = 100 * 365 * 24 * 60 * 60
	n, err := parseInt(strings.ReplaceAll(text, " ", ""), -most)
	if err == nil && n > most {
		err = fmt.Errorf("is more than %d", most)
	}
	return n, err
}
