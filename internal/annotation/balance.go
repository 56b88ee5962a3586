// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var balance = Group{
	Name: "balance", Doc: "Spreads the requests of the Ingress's own routes over the endpoints of their Service. On a canary the keys count for what the canary takes.",
	Keys: []Key{
		Enum("load-balance", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "round_robin", Setting: "load-balance", Example: "ewma", OnCanary: true,
			Doc: "round_robin takes one endpoint after the other. ewma takes the one of two random endpoints that is likely to answer sooner, by its times of late and what it " +
				"has to do, and avoids those that failed. least_conn takes the one with the fewest requests in flight, p2c the one of two random ones that has fewer, random any. " +
				"See [balancing](balancing.md). chash, chashsubset, sticky_balanced and sticky_persistent count as round_robin: what they stand for is chosen " +
				"by upstream-hash-by and affinity, which both override this key.",
			Source: "Fairway", Shape: "ewma, least_conn and p2c, once for all routes, as ends of requests must be seen",
			Differs: "It concerns the routes of this Ingress alone; there the oldest Ingress with the Service and port decided for all. least_conn, p2c and random are new.",
		}, algorithmOptions(), func(e *Effect, v model.Algorithm) { e.balance.algorithm = &v }),

		Bool("service-upstream", Spec{
			Scope: Route, Risk: Low, Default: "false", Setting: "service-upstream", Example: "true", OnCanary: true,
			Doc: "Sends the requests to the address and port of the Service itself, so that the cluster's own proxy balances; affinity and retries then have nothing to " +
				"choose from. A headless Service has no address: its endpoints are used.",
			Source:  "Service.spec.clusterIP",
			Differs: "It concerns the routes of this Ingress alone; there the oldest Ingress with the Service and port decided for all.",
		}, func(e *Effect, v bool) { e.VirtualService = v }),

		Parsed("slow-start", "time such as 30s or 2m, up to 1h", Spec{
			Scope: Route, Risk: Low, Own: true, Default: "none", Example: "30s", OnCanary: true, OnService: true,
			Doc: "An endpoint that joins others has its full share of the requests after that time, and until then a part of it that grows evenly from a twentieth. Endpoints that are " +
				"there at the start of nginx have theirs at once, and so have all when none was there before. It has no effect on what is hashed: upstream-hash-by and balanced cookies. " +
				"On a Service it is for the routes that lead there and say nothing.",
			Source: "Fairway",
		}, value.DurationWithin(time.Second, time.Hour), func(e *Effect, v time.Duration) { e.balance.slowStart = v }),

		Parsed("upstream-hash-by", "text with nginx variables", Spec{
			Scope: Route, Risk: High, Refused: true, Default: "none", Example: "$request_uri", OnCanary: true,
			Doc: "Requests for which this text is the same go to the same endpoint. When endpoints come or go, only their share of the texts moves. " +
				"Letters, digits, -, _ and variables as $name or ${name}; blanks are dropped.",
			Source:  "rendezvous hashing",
			Differs: "A variable that Fairway does not know makes the value invalid; there it was empty, so that all requests went to one endpoint.",
		}, value.TemplateOf("-"), func(e *Effect, v model.Template) { e.balance.hashBy = v }),

		Bool("upstream-hash-by-subset", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "false", Example: "true", OnCanary: true,
			Doc:    "With upstream-hash-by: the text chooses a group of endpoints, and chance one of them.",
			Source: "Fairway",
		}, func(e *Effect, v bool) { e.balance.subset = v }),

		Int("upstream-hash-by-subset-size", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "3", Example: "5", OnCanary: true,
			Doc: "With upstream-hash-by-subset: how many endpoints are in a group. The endpoints are cut into groups in the order of their addresses; the last " +
				"group is filled up from the first. 0 counts as 3.",
			Source: "Fairway",
		}, func(e *Effect, v int) { e.balance.size = v }),
	},
	finish: finishBalance,
}

// algorithmOptions are the algorithms, and the predecessor's names for what other keys choose.
func algorithmOptions() []Option[model.Algorithm] {
	var options []Option[model.Algorithm]
	for _, a := range model.Algorithms() {
		options = append(options, Option[model.Algorithm]{Text: a.String(), Value: a})
	}
	for _, name := range []string{"chash", "chashsubset", "sticky_balanced", "sticky_persistent"} {
		options = append(options, Option[model.Algorithm]{Text: name, Value: model.RoundRobin})
	}
	return options
}

// balanceDraft is what the keys of the group balance say.
type balanceDraft struct {
	algorithm *model.Algorithm // nil as the settings say
	hashBy    model.Template
	subset    bool
	size      int
	slowStart time.Duration
}

const usualSubset = 3

func finishBalance(p *parser) {
	draft := &p.effect.balance
	if !p.has("upstream-hash-by") {
		p.without("upstream-hash-by", "upstream-hash-by-subset", "upstream-hash-by-subset-size")
	} else if !p.has("upstream-hash-by-subset") {
		p.without("upstream-hash-by-subset", "upstream-hash-by-subset-size")
	}
	switch {
	case draft.hashBy != "":
		p.effect.Policy.Balance = &model.Balance{Algorithm: model.Hash, HashBy: draft.hashBy, Subset: draft.groups()}
	case draft.algorithm == nil || *draft.algorithm == algorithmOf(p.effect.Policy.Balance):
		// As the settings say.
	default:
		p.effect.Policy.Balance = &model.Balance{Algorithm: *draft.algorithm}
	}
	if draft.slowStart > 0 {
		var balance model.Balance
		if b := p.effect.Policy.Balance; b != nil {
			balance = *b
		}
		balance.SlowStart = draft.slowStart
		p.effect.Policy.Balance = &balance
	}
}

// groups gives the size of the groups to hash to, 0 for none.
func (d *balanceDraft) groups() int {
	switch {
	case !d.subset:
		return 0
	case d.size == 0:
		return usualSubset
	}
	return d.size
}

func algorithmOf(b *model.Balance) model.Algorithm {
	if b == nil {
		return model.RoundRobin
	}
	return b.Algorithm
}
