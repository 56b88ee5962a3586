// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"strings"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
)

// TestWorkspace has a driver in a workspace of Kong Enterprise: it writes there alone, and what others have in the default one stays.
func TestWorkspace(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Connect = func(e Endpoint) (*admin.Client, error) {
			return admin.New(admin.Options{URL: e.URL, Pause: time.Millisecond, Workspace: "edge"})
		}
	}, kongtest.Options{Workspaces: []string{"edge"}})
	b.send(0, "POST", "/services", `{"name": "shop.app-1.80", "host": "a.example", "tags": ["`+testTag+`"]}`)
	b.writes(0)
	b.want(apps(5))
	b.apply()
	for _, call := range b.writes(0) {
		if !strings.HasPrefix(call.Path, "/edge/") || call.Status >= 300 {
			t.Errorf("%s %s: %d", call.Method, call.Path, call.Status)
		}
	}
	b.apply()
	if calls := b.writes(0); len(calls) > 0 {
		t.Errorf("without a change there are the writes %v", calls)
	}
	b.want(apps(3))
	b.apply()
	s := b.simulators[0]
	if n := len(s.EntitiesIn("edge", "services")); n != 3 {
		t.Errorf("%d services are in the workspace, want 3", n)
	}
	if n := len(s.Entities("services")); n != 1 {
		t.Errorf("%d services are in the default workspace, want the one of somebody else", n)
	}
}
