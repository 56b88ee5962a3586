// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"os"
	"strings"
	"testing"
)

// otherDefaults are the keys whose default comes from another setting than the inventory names, with the reason.
var otherDefaults = map[string]string{
	"auth-snippet":               "no setting holds raw configuration of tenants' locations",
	"configuration-snippet":      "likewise",
	"server-snippet":             "likewise",
	"stream-snippet":             "likewise",
	"modsecurity-snippet":        "likewise",
	"auth-signin-redirect-param": "the setting is for global auth alone",
}

// TestInventory compares the registry with the predecessor's keys, both ways.
func TestInventory(t *testing.T) {
	text, err := os.ReadFile("testdata/inventory.txt")
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		for i := range words {
			if words[i] == "-" {
				words[i] = ""
			}
		}
		name, alias, risk, setting := words[0], words[1], words[2], words[3]
		theirs[name] = true
		key := index[name]
		if key == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if key.Name != name || key.Alias != alias || string(key.Risk) != risk {
			t.Errorf("%s: alias %q, risk %s; the predecessor has alias %q, risk %s", name, key.Alias, key.Risk, alias, risk)
		}
		if _, other := otherDefaults[name]; key.Setting != setting && !other {
			t.Errorf("%s: its default comes from the setting %q, in the predecessor from %q", name, key.Setting, setting)
		}
	}
	if len(theirs) != 136 {
		t.Errorf("the inventory has %d keys, not 136", len(theirs))
	}
	for _, group := range groups {
		for _, key := range group.Keys {
			if !theirs[key.Name] && !key.Own {
				t.Errorf("%s is no key of the predecessor", key.Name)
			}
		}
	}
}
