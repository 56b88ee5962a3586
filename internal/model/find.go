// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"regexp"
	"slices"
	"strings"
)

// Host gives the host of that exact name, or nil.
func (m *Model) Host(name string) *Host {
	i, found := slices.BinarySearchFunc(m.Hosts, name, func(h *Host, name string) int { return strings.Compare(h.Name, name) })
	if !found {
		return nil
	}
	return m.Hosts[i]
}

// Backend gives the backend of that ID, or nil.
func (m *Model) Backend(id BackendID) *Backend {
	i, found := slices.BinarySearchFunc(m.Backends, id, func(b *Backend, id BackendID) int { return b.ID.Compare(id) })
	if !found {
		return nil
	}
	return m.Backends[i]
}

// Compare orders IDs by namespace, service, port.
func (id BackendID) Compare(o BackendID) int { return strings.Compare(id.String(), o.String()) }

// Wildcard gives the wildcard name that covers name, "*.example.com" for "a.example.com", or "" when none can: the first label
// must consist of letters, digits, "-" and "_".
func Wildcard(name string) string {
	label, rest, found := strings.Cut(name, ".")
	if !found || label == "" || rest == "" {
		return ""
	}
	for _, c := range []byte(label) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return ""
		}
	}
	return "*." + rest
}

// Find gives the host that answers for a requested host name and the match that takes a path of it. The name is lower-case
// and has neither port nor final dot; the path is decoded and normalized, as nginx' $uri is. Names and aliases before wildcards, before
// patterns, before the catch-all host; then as the MatchKinds say. The match is nil when the default backend answers.
func (m *Model) Find(name, path string) (*Host, *Match) {
	var host *Host
	if !strings.HasPrefix(name, "*") { // nobody asks for a wildcard itself
		host = m.named(name)
	}
	if host == nil {
		if w := Wildcard(name); w != "" {
			host = m.named(w)
		}
	}
	if host == nil {
		host = m.byPattern(name)
	}
	if host == nil {
		host = m.Host(CatchAll)
	}
	if host == nil {
		return nil, nil
	}
	return host, host.Find(path)
}

// named gives the host that has the name, or has it as an alias, or nil. It looks through all hosts for aliases.
func (m *Model) named(name string) *Host {
	if host := m.Host(name); host != nil {
		return host
	}
	for _, h := range m.Hosts {
		if slices.Contains(h.Aliases, name) {
			return h
		}
	}
	return nil
}

// byPattern gives the first host with a pattern that finds something in the name, or nil.
func (m *Model) byPattern(name string) *Host {
	for _, h := range m.Hosts {
		for _, p := range h.Patterns {
			if re, err := regexp.Compile("(?i)" + p); err == nil && re.MatchString(name) {
				return h
			}
		}
	}
	return nil
}

// Find gives the match that takes a path, or nil. It tries the matches one by one and is meant for people and tests, not for traffic.
func (h *Host) Find(path string) *Match {
	for i := range h.Matches {
		if h.Matches[i].takes(path) {
			return &h.Matches[i]
		}
	}
	return nil
}

func (m *Match) takes(path string) bool {
	switch m.Kind {
	case Exact:
		return path == m.Path
	case Prefix:
		return strings.HasPrefix(path, m.Path)
	default:
		re, err := regexp.Compile("(?i)^(?:" + m.Path + ")")
		return err == nil && re.MatchString(path)
	}
}
