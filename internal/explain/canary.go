// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"net/http"
	"regexp"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Canary is a backend that takes a share of a route's requests.
type Canary struct {
	Owner     string `json:"owner"`
	Backend   string `json:"backend"`
	Condition string `json:"condition"`
	// Verdict is what it means for this request: "takes it by header", "10 of 100 by chance", …
	Verdict string `json:"verdict"`
}

// Verdicts of a header or a cookie.
type verdict int

const (
	silent verdict = iota
	takes
	refuses
)

// chooseCanary says of each canary whether it takes the request and gives the one that certainly does, or nil. The order is the data
// plane's: the headers of all, then the cookies of all, then chance.
func (f *Facts) chooseCanary(canaries []model.Canary, header http.Header) ([]Canary, *model.Canary) {
	list := make([]Canary, len(canaries))
	refused := make([]bool, len(canaries))
	var chosen *model.Canary
	for i, c := range canaries {
		list[i] = Canary{Owner: c.Owner.String(), Backend: c.Backend.String(), Condition: c.String(), Verdict: "takes none"}
	}
	for _, by := range []struct {
		word   string
		decide func(*model.Canary, http.Header) verdict
	}{{"header", byHeader}, {"cookie", byCookie}} {
		for i := range canaries {
			if refused[i] || chosen != nil {
				continue
			}
			switch v := by.decide(&canaries[i], header); {
			case v == refuses:
				refused[i], list[i].Verdict = true, "refuses it by "+by.word
			case v == takes && !f.alive(canaries[i].Backend):
				list[i].Verdict = "would take it by " + by.word + ", but has no endpoints"
			case v == takes:
				chosen, list[i].Verdict = &canaries[i], "takes it by "+by.word
			}
		}
	}
	for i, c := range canaries {
		switch {
		case c.Weight == 0 || refused[i] || &canaries[i] == chosen:
		case chosen != nil:
			list[i].Verdict = "is not asked"
		case !f.alive(c.Backend):
			list[i].Verdict = "would take some by chance, but has no endpoints"
		default:
			list[i].Verdict = fmt.Sprintf("takes %d of %d by chance", c.Weight, c.WeightTotal)
		}
	}
	return list, chosen
}

func (f *Facts) alive(id model.BackendID) bool {
	backend := f.Model.Backend(id)
	return backend != nil && len(backend.Endpoints) > 0
}

func byHeader(c *model.Canary, header http.Header) verdict {
	values := header.Values(c.Header)
	if c.Header == "" || len(values) == 0 {
		return silent
	}
	value := values[0]
	switch {
	case c.HeaderValue != "":
		return takesIf(value == c.HeaderValue)
	case c.HeaderPattern != "":
		pattern, err := regexp.Compile(c.HeaderPattern)
		if err != nil {
			return refuses
		}
		return takesIf(pattern.MatchString(value))
	}
	return always(value)
}

func byCookie(c *model.Canary, header http.Header) verdict {
	if c.Cookie == "" {
		return silent
	}
	cookie, err := (&http.Request{Header: header}).Cookie(c.Cookie)
	if err != nil {
		return silent
	}
	return always(cookie.Value)
}

func always(value string) verdict {
	switch value {
	case "always":
		return takes
	case "never":
		return refuses
	}
	return silent
}

func takesIf(yes bool) verdict {
	if yes {
		return takes
	}
	return silent
}
