// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"math"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

const (
	usualMethods = "GET, PUT, POST, DELETE, PATCH, OPTIONS"
	usualHeaders = "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization"
	// fetch is the standard that these keys serve.
	fetch = "Fetch standard, CORS protocol"
)

var cors = Group{
	Name: "cors", Doc: "Lets pages of other origins read responses. The other keys only count where enable-cors is true.",
	Keys: []Key{
		Bool("cors-allow-credentials", Spec{
			Scope: Route, Risk: Low, Default: "true", Example: "false",
			Doc: "Sends Access-Control-Allow-Credentials: true; false leaves the header out, also that of the backend.", Source: fetch,
		}, func(e *Effect, v bool) { e.cors.Credentials = v }),

		Parsed("cors-allow-headers", "header names with commas or blanks between", Spec{
			Scope: Route, Risk: Medium, Default: usualHeaders, Example: "X-Token, Content-Type",
			Doc: "What Access-Control-Allow-Headers says, literally.", Source: fetch,
		}, words(value.IsLetterOrDigit, "-_"), func(e *Effect, v string) { e.cors.Headers = v }),

		Parsed("cors-allow-methods", "methods with commas or blanks between", Spec{
			Scope: Route, Risk: Medium, Default: usualMethods, Example: "GET, POST, OPTIONS",
			Doc: "What Access-Control-Allow-Methods says, literally. No method is refused.", Source: fetch,
		}, words(isLetter, ""), func(e *Effect, v string) { e.cors.Methods = v }),

		Parsed("cors-allow-origin", "origins with commas between", Spec{
			Scope: Route, Risk: Medium, Default: "*", Example: "https://*.example.com, https://app.example.org:8443",
			Doc: "Which origins are accepted: each is *, null, or scheme://host with an optional port, whose host may begin with *. for exactly one label. " +
				"A request's Origin must be equal but for letter case, and is then what Access-Control-Allow-Origin says. A * anywhere in the list accepts all, and " +
				"that header says *. An origin that does not parse is not accepted; where none parses there is no CORS.",
			Source: "RFC 6454, " + fetch, Differs: "Origins are compared from end to end, and a list that does not parse is never taken for *.",
		}, func(text string) (string, error) { return text, nil }, func(e *Effect, v string) { e.cors.origins = v }),

		Parsed("cors-expose-headers", "header names or *, with commas or blanks between", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "X-Total, X-Page",
			Doc: "What Access-Control-Expose-Headers says, literally; without it the backend's stays.", Source: fetch,
		}, words(value.IsLetterOrDigit, "-_*"), func(e *Effect, v string) { e.cors.ExposeHeaders = v }),

		Int("cors-max-age", Spec{
			Scope: Route, Risk: Low, Min: math.MinInt32, Default: "1728000", Example: "600",
			Doc: "What Access-Control-Max-Age says, in seconds.", Source: fetch,
		}, func(e *Effect, v int) { e.cors.MaxAge = v }),

		Bool("enable-cors", Spec{
			Scope: Route, Risk: Low, Default: "false", Example: "true",
			Doc: "Where the Origin of a request is accepted, see cors-allow-origin, every response of any status has the headers that the other keys set, in place of the backend's, " +
				"and OPTIONS is answered 204 before redirects, limits and authentication, without asking the backend. With the origin * that holds for all requests; " +
				"otherwise responses have Vary: Origin.",
			Source: fetch, Shape: "one for all routes with it",
		}, func(e *Effect, v bool) { e.cors.on = v }),
	},
	finish: finishCORS,
}

// corsDraft is what the keys say.
type corsDraft struct {
	model.CORS
	on      bool
	origins string
}

func newCORSDraft() corsDraft {
	return corsDraft{CORS: model.CORS{Methods: usualMethods, Headers: usualHeaders, Credentials: true, MaxAge: 1728000}, origins: "*"}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// words makes a parser of lists, with commas or blanks between, of words whose characters are in a class or among others. It leaves the text as it is.
func words(class func(byte) bool, others string) func(text string) (string, error) {
	return func(text string) (string, error) {
		text = strings.TrimSpace(text)
		if len(text) > 4096 || strings.Trim(text, ", ") == "" || !value.Only(text, class, others+", ") {
			return "", errors.New("is not a list of words with commas between")
		}
		return text, nil
	}
}

func finishCORS(p *parser) {
	d := p.effect.cors
	switch {
	case p.effect.Canary:
		return
	case !p.has("enable-cors"):
		p.without("enable-cors", "cors-allow-credentials", "cors-allow-headers", "cors-allow-methods", "cors-allow-origin", "cors-expose-headers", "cors-max-age")
		return
	case !d.on:
		return
	}
	origins, errs := value.Origins(d.origins)
	now := "the others of the list are accepted"
	if len(origins) == 0 {
		now = "no origin is accepted, so there are no CORS headers"
	}
	if len(origins)+len(errs) == 0 {
		errs = []error{errors.New("the value names no origin")}
	}
	for _, err := range errs {
		p.problem("cors-allow-origin", model.ReasonInvalidAnnotation, err.Error()+"; "+now)
	}
	if len(origins) == 0 {
		return
	}
	d.CORS.Origins = origins
	p.effect.Policy.CORS = &d.CORS
}
