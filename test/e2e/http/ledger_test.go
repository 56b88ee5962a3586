// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/settings"
)

// ledgerCluster has what settings concern: a route, one that another server is asked about, and ConfigMaps that settings name.
var ledgerCluster = rule("web", "h.example", "/", "web", "") +
	"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: added-headers, namespace: ingress-nginx}\ndata: {X-Added: yes}\n" +
	"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: request-headers, namespace: ingress-nginx}\ndata: {X-Set: yes}\n" +
	strings.Replace(secretOf("dh-param", map[string][]byte{"dhparam.pem": []byte(ffdhe2048)}), "{name: dh-param}", "{name: dh-param, namespace: ingress-nginx}", 1)

// ledgerWith are further settings without which a key changes nothing for the nginx of these tests, which has one address.
var ledgerWith = map[string]map[string]string{
	"disable-ipv6":                        {"bind-address-ipv6": "::1"},
	"forwarded-for-proxy-protocol-header": {"use-proxy-protocol": "true"},
}

// TestReloadLedger changes each key that acts, there and back, and notes whether nginx was reloaded: docs/settings.md says so of each. The table is printed
// with -v.
func TestReloadLedger(t *testing.T) {
	shared.inForce = nil
	cities := filepath.Join(t.TempDir(), "cities.mmdb")
	writeCities(t, cities, "DE")
	shared.driver.UseDatabases(map[string]conf.Database{"GeoLite2-City": {Path: cities, Version: "1"}})
	defer shared.driver.UseDatabases(nil)
	var table strings.Builder
	counts := map[string]int{}
	for _, group := range settings.Groups() {
		for _, key := range group.Keys {
			if key.NotYet || key.Instead != "" {
				continue
			}
			got := ledgerEntry(t, key)
			counts[got]++
			fmt.Fprintf(&table, "%-45s %s\n", key.Name, got)
			if want := map[bool]string{true: "reload", false: "data"}[key.Reload]; got != want {
				t.Errorf("%s acts by %s, the registry says %s", key.Name, got, want)
			}
		}
	}
	t.Logf("the reload ledger: %d keys act by data, %d by a reload\n%s", counts["data"], counts["reload"], table.String())
}

func ledgerEntry(t *testing.T, key settings.Key) string {
	base := settings.Companions(key.Name)
	maps.Copy(base, ledgerWith[key.Name])
	changed := maps.Clone(base)
	changed[key.Name] = key.Example
	if key.Reload && thereAndBack(t, key, base, changed) {
		return "reload"
	}
	// What nginx needed for an earlier key may still be in its configuration; another one has just what the base needs.
	base["max-worker-connections"], changed["max-worker-connections"] = "1000", "1000"
	if key.Name == "max-worker-connections" {
		changed[key.Name] = key.Example
	}
	if thereAndBack(t, key, base, changed) {
		return "reload"
	}
	return "data"
}

// thereAndBack tells whether a change of settings, or taking it back, costs a reload.
func thereAndBack(t *testing.T, key settings.Key, base, changed map[string]string) bool {
	shared.apply(t, ledgerCluster, settingsYAML(base))
	begin := shared.reloads
	shared.apply(t, ledgerCluster, settingsYAML(changed))
	if got := shared.problemLines(); got != "" && !strings.Contains(got, key.Lacks) {
		t.Errorf("%s: %s", key.Name, got)
	}
	shared.apply(t, ledgerCluster, settingsYAML(base))
	return shared.reloads > begin
}

func settingsYAML(data map[string]string) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(&out, "%s: %q\n", key, data[key])
	}
	return out.String()
}
