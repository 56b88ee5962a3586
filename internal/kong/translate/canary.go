// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// share is a service's part of the requests of a route.
type share struct {
	service model.KongServiceID
	weight  float64 // of 1
}

// addCanaries adds the routes that take requests by header and cookie, and gives the route itself the shares by weight.
func (t *translation) addCanaries(main *route, suffix string) {
	rest := 1.0
	var shares []share
	for i := range main.source.Canaries {
		c := &main.source.Canaries[i]
		t.addHeaderRoutes(main, c, fmt.Sprintf("%s.canary-%d", suffix, i))
		s := t.service(c.Service)
		if c.Weight <= 0 || c.WeightTotal <= 0 || s == nil || s.closed != "" {
			continue
		}
		part := rest * min(1, float64(c.Weight)/float64(c.WeightTotal))
		shares = append(shares, share{c.Service, part})
		rest -= part
	}
	if len(shares) > 0 && t.service(main.to) != nil {
		main.variant.shares = append([]share{{main.to, rest}}, shares...)
	}
}

// addHeaderRoutes adds the routes of a canary that decide by a header or a cookie, which is a header to Kong.
func (t *translation) addHeaderRoutes(main *route, c *model.KongCanary, suffix string) {
	put := func(name, kind, header, value string, to model.KongServiceID) {
		r := t.newRoute(main.source, main.paths, suffix+"."+kind)
		r.Headers = maps.Clone(r.Headers)
		if r.Headers == nil {
			r.Headers = map[string][]string{}
		}
		r.Headers[strings.ToLower(header)] = []string{value}
		r.to, r.canary = to, c
		r.Owner = c.Owner
		r.Tags = append(r.Tags, entity.Tag("fairway-canary:"+c.Owner.Namespace+"/"+c.Owner.Name), "fairway-by:"+name)
		if r.closed = main.source.Closed; r.closed == "" {
			t.checkService(r)
		}
		t.routes = append(t.routes, r)
	}
	switch {
	case c.Header == "":
	case c.HeaderValue != "":
		put("header", "header", c.Header, c.HeaderValue, c.Service)
	case c.HeaderPattern != "":
		put("header", "header", c.Header, "~*"+c.HeaderPattern, c.Service)
	default:
		put("header", "always", c.Header, "always", c.Service)
		put("header", "never", c.Header, "never", main.to)
	}
	if c.Cookie != "" {
		name := regexp.QuoteMeta(c.Cookie)
		put("cookie", "cookie", "Cookie", "~*(^|;[ ]*)"+name+"=always(;|$)", c.Service)
		put("cookie", "nocookie", "Cookie", "~*(^|;[ ]*)"+name+"=never(;|$)", main.to)
	}
}

// tellDeeper reports what Kong does otherwise: a route with a header beats one with a longer path, so a canary takes requests of paths below its own.
func (t *translation) tellDeeper() {
	for _, r := range t.routes {
		if r.canary == nil {
			continue
		}
		for _, other := range t.routes {
			if other.canary != nil || other.source == r.source || !slices.Equal(other.Hosts, r.Hosts) {
				continue
			}
			if p, found := below(r.paths, other.paths); found {
				t.problem(r.canary.Owner, "metadata.annotations", model.ReasonAmbiguous,
					"to Kong a header counts more than a longer path, so the canary also takes requests with its header to %s of %s", p.Path,
					other.source.Origin.Ref)
				break
			}
		}
	}
}

// below gives the first path that is below one of those above.
func below(above, paths []model.KongPath) (model.KongPath, bool) {
	for _, p := range paths {
		for _, a := range above {
			if a.Kind != model.KongExact && p.Path != a.Path && strings.HasPrefix(p.Path, strings.TrimSuffix(a.Path, "/")+"/") {
				return p, true
			}
		}
	}
	return model.KongPath{}, false
}

// heaviest is the most that a target may weigh.
const heaviest = 65535

// weigh gives the targets of services the weights at which each service gets its share, whatever the number of its targets.
func (t *translation) weigh(shares []share) []model.KongTarget {
	weights := map[string]float64{}
	for _, s := range shares {
		ready, all := 0, t.bound[s.service].service.Targets
		for _, target := range all {
			if target.Weight > 0 {
				ready++
			}
		}
		for _, target := range all {
			if target.Weight > 0 {
				weights[target.Address] += s.weight / float64(ready)
			} else if _, known := weights[target.Address]; !known {
				weights[target.Address] = 0
			}
		}
	}
	return scale(weights)
}

// scale makes whole numbers of weights: exact ones where small ones will do, else such that the heaviest is as heavy as can be.
func scale(weights map[string]float64) []model.KongTarget {
	most := 0.0
	for _, w := range weights {
		most = max(most, w)
	}
	factor := heaviest / max(most, 1e-9)
	for f := 1.0; f*most <= heaviest && f <= 1e6; f++ {
		if isWhole(weights, f) {
			factor = f
			break
		}
	}
	targets := make([]model.KongTarget, 0, len(weights))
	for address, w := range weights {
		whole := int(math.Round(w * factor))
		if w > 0 {
			whole = max(1, min(whole, heaviest))
		}
		targets = append(targets, model.KongTarget{Address: address, Weight: whole})
	}
	slices.SortFunc(targets, func(a, b model.KongTarget) int { return cmp.Compare(a.Address, b.Address) })
	return targets
}

func isWhole(weights map[string]float64, factor float64) bool {
	for _, w := range weights {
		if v := w * factor; math.Abs(v-math.Round(v)) > 1e-6*max(1, v) || w > 0 && math.Round(v) == 0 {
			return false
		}
	}
	return true
}
