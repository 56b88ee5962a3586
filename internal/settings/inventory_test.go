// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"os"
	"strings"
	"testing"
)

// otherDefaults are the keys whose default reads differently here, with the reason.
var otherDefaults = map[string]string{
	"Resolver":                          "it has no effect",
	"disable-ipv6-dns":                  "it is false unless set; there it follows the pod's interfaces",
	"global-auth-signin-redirect-param": "it acts as rd in both",
	"load-balance":                      "it acts as round_robin in both",
	"no-auth-locations":                 "the same",
	"proxy-ssl-location-only":           "false would let an Ingress change how the backends of others are verified",
	"server-name-hash-bucket-size":      "0 stands for what fits",
	"use-geoip":                         "it has no effect",
	"worker-processes":                  "auto is the number of usable CPUs",
}

// inventory reads the predecessor's keys: status and default by name.
func inventory(t *testing.T) map[string][2]string {
	text, err := os.ReadFile("testdata/inventory.txt")
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string][2]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if words[2] == "-" {
			words[2] = none
		}
		keys[words[0]] = [2]string{words[1], words[2]}
	}
	return keys
}

// TestInventory compares the registry with the predecessor's keys, both ways.
func TestInventory(t *testing.T) {
	theirs := inventory(t)
	if len(theirs) != 213 {
		t.Errorf("the inventory has %d keys, not 213", len(theirs))
	}
	for name, key := range theirs {
		status, usual := key[0], key[1]
		ours := index[name]
		if ours == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		acted := status == "live" || status == "undocumented"
		if acted && ours.Instead != "" || !acted && ours.Instead == "" {
			t.Errorf("%s is %s there; here it has no effect: %q", name, status, ours.Instead)
		}
		if _, other := otherDefaults[name]; acted && !other && !strings.EqualFold(ours.Default, usual) {
			t.Errorf("%s: the default is %q, in the predecessor %q", name, ours.Default, usual)
		}
	}
	for name, key := range index {
		if _, found := theirs[name]; !found && !key.Own {
			t.Errorf("%s is no key of the predecessor", name)
		}
	}
}
