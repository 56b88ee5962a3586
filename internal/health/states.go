// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Totals count checks since the start.
type Totals struct{ Passed, Failed uint64 }

func (t *Totals) count(err error) {
	if err == nil {
		t.Passed++
	} else {
		t.Failed++
	}
}

// Totals gives how many checks passed and failed.
func (d *Driver) Totals() Totals {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.totals
}

// Unhealthy lists the endpoints that checks found unwell, by backend and address.
func (d *Driver) Unhealthy() []model.EndpointHealth {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []model.EndpointHealth
	for id, b := range d.backends {
		for _, p := range b.probes {
			if p.unhealthy {
				list = append(list, model.EndpointHealth{Backend: id, Endpoint: p.address, State: model.Unhealthy, Why: p.why, Since: p.since})
			}
		}
	}
	slices.SortFunc(list, func(a, b model.EndpointHealth) int {
		return cmp.Or(a.Backend.Compare(b.Backend), a.Endpoint.Compare(b.Endpoint))
	})
	return list
}
