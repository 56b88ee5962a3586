// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

// TestAddresses checks which of the settings and the command line says where to listen.
func TestAddresses(t *testing.T) {
	list := func(text string) (addresses []netip.Addr) {
		for word := range strings.FieldsSeq(text) {
			addresses = append(addresses, netip.MustParseAddr(word))
		}
		return addresses
	}
	for _, c := range []struct {
		name, flag, v4, v6 string
		ipv6, noIPv6       bool
		want               string
	}{
		{"everything", "", "", "", true, false, "0.0.0.0:80 [::]:80"},
		{"a machine without IPv6", "", "", "", false, false, "0.0.0.0:80"},
		{"disable-ipv6", "", "", "", true, true, "0.0.0.0:80"},
		{"--bind-address", "192.0.2.1", "", "", true, false, "192.0.2.1:80"},
		{"--bind-address of IPv6", "[2001:db8::1]", "", "", true, false, "[2001:db8::1]:80"},
		{"IPv4 addresses leave IPv6", "", "192.0.2.1 192.0.2.2", "", true, false, "192.0.2.1:80 192.0.2.2:80 [::]:80"},
		{"IPv6 addresses leave IPv4", "", "", "2001:db8::1", true, false, "0.0.0.0:80 [2001:db8::1]:80"},
		{"both", "", "192.0.2.1", "2001:db8::1", true, false, "192.0.2.1:80 [2001:db8::1]:80"},
		{"IPv6 addresses without IPv6", "", "192.0.2.1", "2001:db8::1", false, false, "192.0.2.1:80"},
		{"IPv6 addresses with disable-ipv6", "", "", "2001:db8::1", true, true, "0.0.0.0:80"},
		{"settings before flag", "192.0.2.9", "192.0.2.1", "", true, false, "192.0.2.1:80"},
	} {
		s := model.DefaultSettings()
		s.Listen.IPv4, s.Listen.IPv6, s.Listen.NoIPv6 = list(c.v4), list(c.v6), c.noIPv6
		if got := strings.Join(addresses(Place{Address: c.flag, IPv6: c.ipv6}, s, 80), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestTables checks that names of servers always fit.
func TestTables(t *testing.T) {
	c := Config{Settings: model.DefaultSettings()}
	if h := c.tables(); h.ServerNameBucket != 64 || h.ServerNameMax != 1024 {
		t.Errorf("without servers: %+v", h)
	}
	long := strings.Repeat("a", 240)
	for range 10 {
		c.Servers = append(c.Servers, Server{Names: []string{long}})
	}
	if h := c.tables(); h.ServerNameBucket != 512 || h.ServerNameMax != 4096 {
		t.Errorf("with long names: %+v", h)
	}
	c.Settings.Worker.Hashes.ServerNameBucket = 1024
	if h := c.tables(); h.ServerNameBucket != 1024 {
		t.Errorf("with a larger setting: %+v", h)
	}
}

// TestCustomTemplate checks that a template that cannot be filled in gives a configuration that nginx refuses.
func TestCustomTemplate(t *testing.T) {
	template, err := ParseTemplate("{{ index .ErrorCodes 7 }}")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Settings: model.DefaultSettings(), Shapes: Shapes{}, Template: template}
	if text, _ := c.Render(); !strings.HasPrefix(string(text), "the_template_fails ") {
		t.Errorf("got %.100q", text)
	}
}
