// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"net/netip"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// TestAvoid keeps new connections from endpoints that are not well, while there are others.
func TestAvoid(t *testing.T) {
	one, two := model.NewEndpoint(netip.MustParseAddrPort("10.0.0.1:80")), model.NewEndpoint(netip.MustParseAddrPort("10.0.0.2:80"))
	b := &model.Backend{Endpoints: []model.Endpoint{one, two}, Health: &model.Health{Check: &model.HealthCheck{}}, Unhealthy: []model.Endpoint{one}}
	now := time.Now()
	var list targets
	list.use(b.Endpoints, false, now)
	list.rank(b.Usable())
	for range 4 {
		if chosen := list.acquire(nil, now); chosen.address != two.AddrPort {
			t.Errorf("chosen is %s", chosen.address)
		}
	}
	if last := list.acquire([]*target{list.list[1]}, now); last == nil || last.address != one.AddrPort {
		t.Errorf("when the other was tried, %v is chosen", last)
	}
	b.Unhealthy = b.Endpoints // all are used
	list.rank(b.Usable())
	seen := map[netip.AddrPort]bool{}
	for range 4 {
		seen[list.acquire(nil, now).address] = true
	}
	if len(seen) != 2 {
		t.Errorf("chosen are %v", seen)
	}
}
