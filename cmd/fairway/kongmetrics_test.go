// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
)

// ofKong tells whether a family is there with Kong Gateways alone.
func ofKong(name string) bool {
	return strings.HasPrefix(name, "ingress_controller_") || strings.HasPrefix(name, "fairway_kong_")
}

// TestKongMetricNames compares what a controller for Kong shows with docs/metrics.md, both ways.
func TestKongMetricNames(t *testing.T) {
	documented := documentedFamilies(t)
	maps.DeleteFunc(documented, func(name string, _ string) bool { return !ofKong(name) })
	b := startKong(t, kongtest.Options{DBLess: true})
	_, text := get(b.program.own, "", "/metrics")
	if refused := `fairway_kong_refused_entities{entity="plugin",gateway="http://127.0.0.1`; !strings.Contains(text, refused) {
		t.Errorf("no %s in\n%s", refused, text)
	}
	seen := parseFamilies(t, text)
	b.write("bad", "")
	eventually(t, "a push of all that is wanted", func() bool {
		_, text = get(b.program.own, "", "/metrics")
		return strings.Contains(text, "ingress_controller_configuration_push_last_successful{")
	})
	maps.Copy(seen, parseFamilies(t, text))
	if refused := parseFamilies(t, text)["fairway_kong_refused_entities"]; refused != nil {
		t.Errorf("once nothing is refused there are %d series of what is", refused.series)
	}
	if _, refusedBefore := seen["fairway_kong_refused_entities"]; !refusedBefore {
		t.Error("fairway_kong_refused_entities is not there")
	}
	for name, f := range seen {
		if ofKong(name) && documented[name] != f.signature() {
			t.Errorf("docs/metrics.md says of %s %q, it is %q", name, documented[name], f.signature())
		}
	}
	for name := range documented {
		if seen[name] == nil {
			t.Errorf("docs/metrics.md has %s, which is not there", name)
		}
	}
	b.end()
}
