// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

// TestMoreHostsThanAWorkerRemembers asks for more hosts than a worker keeps decoded, twice, with a change of some in between.
func TestMoreHostsThanAWorkerRemembers(t *testing.T) {
	const count = 6000
	names := []string{"web", "blue"}
	build := func(turn int) *model.Model {
		m := shared.build(t, rule("seed", "seed.example", "/", "web", "")+rule("seed2", "seed2.example", "/", "blue", ""), "")
		var backends []model.BackendID
		for _, b := range m.Backends {
			backends = append(backends, b.ID)
		}
		slices.SortFunc(backends, func(a, b model.BackendID) int { return strings.Compare(b.Service, a.Service) }) // web, blue
		for i := range count {
			route := &model.Route{Path: "/", Backend: backends[(i+turn)%2], Policy: m.Settings.Route}
			route.Policy.HTTPSRedirect = false
			m.Hosts = append(m.Hosts, &model.Host{
				Name: fmt.Sprintf("many%04d.example", i), Matches: []model.Match{{Kind: model.Prefix, Path: "/", Route: route}},
			})
		}
		slices.SortFunc(m.Hosts, func(a, b *model.Host) int { return strings.Compare(a.Name, b.Name) })
		return m
	}
	for turn := range 2 {
		shared.applyModel(t, build(turn))
		for i := range count {
			r, err := (&request{method: "GET", url: fmt.Sprintf("http://many%04d.example/", i), body: -1}).send(shared)
			if err != nil || r.saw.Backend != names[(i+turn)%2] {
				t.Fatalf("turn %d, host %d: %+v, %v", turn, i, r, err)
			}
		}
	}
}
