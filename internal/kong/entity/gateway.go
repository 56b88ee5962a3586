// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Gateway is what has to be known about a gateway to speak its language.
type Gateway struct {
	Version    Version
	Enterprise bool
	// Database tells whether entities are kept in a database and written one by one; otherwise the whole declarative document is.
	Database bool
	// Flavor is the router's: "traditional", "traditional_compatible" or "expressions".
	Flavor string
	// Plugins are those that the gateway has, sorted. Nil is to assume any.
	Plugins []string
	// StreamPorts are where it listens for TCP, TLS and UDP, sorted. Nil is to assume any.
	StreamPorts []int
}

// HasPlugin tells whether the plugin can be used.
func (g *Gateway) HasPlugin(name string) bool {
	if g.Plugins == nil {
		return true
	}
	_, found := slices.BinarySearch(g.Plugins, name)
	return found
}

// Has tells whether the gateway has the collection at all.
func (g *Gateway) Has(kind *Kind) bool {
	return (g.Enterprise || !kind.Enterprise) && (kind.Plugin == "" || g.HasPlugin(kind.Plugin))
}

// Version of Kong, as far as it matters.
type Version struct{ Major, Minor int }

// Oldest is the oldest version that can be driven.
var Oldest = Version{2, 8}

// ParseVersion reads "3.9.1", "3.9.0.1" (Enterprise) or "3.10.0-dev".
func ParseVersion(text string) (Version, error) {
	parts := strings.SplitN(strings.TrimSpace(text), ".", 3)
	if len(parts) < 2 {
		return Version{}, fmt.Errorf("version %q has no minor number", text)
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return Version{}, fmt.Errorf("version %q: %w", text, err)
	}
	minor, _, _ := strings.Cut(parts[1], "-")
	number, err := strconv.Atoi(minor)
	if err != nil {
		return Version{}, fmt.Errorf("version %q: %w", text, err)
	}
	return Version{major, number}, nil
}

// AtLeast tells whether v is that version or a later one.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// String gives "3.9".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// accessPlugins decide who may pass, so that a route must not be open without them.
var accessPlugins = []string{
	"acl", "basic-auth", "hmac-auth", "ip-restriction", "jwt", "key-auth", "ldap-auth", "mtls-auth", "oauth2", "openid-connect",
}

// ControlsAccess tells whether the plugin of that name decides who may pass.
func ControlsAccess(plugin string) bool { return slices.Contains(accessPlugins, plugin) }
