// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// matches turns the locations of a host into the matches that lead to them, in the order in which they are tried.
func (h *hostBuild) matches() []model.Match {
	if slices.ContainsFunc(h.result.locations, func(l *location) bool { return l.wantsRegex() }) {
		return h.regexMatches()
	}
	m := &matchList{taken: map[matchKey]*location{}}
	for _, l := range h.result.locations {
		if l.exact {
			m.add(l, model.Exact, l.path)
		}
	}
	for _, l := range h.result.locations {
		if !l.exact {
			h.addPrefix(m, l)
		}
	}
	for _, l := range h.result.locations {
		m.addSlash(l)
	}
	slices.SortFunc(m.matches, compareMatches)
	return m.matches
}

// addPrefix adds Prefix "/foo" as Exact "/foo", unless that is declared, and Prefix "/foo/"; the latter may belong to an older claim on "/foo/",
// and the other way round.
func (h *hostBuild) addPrefix(m *matchList, l *location) {
	below := l.path
	if !strings.HasSuffix(below, "/") {
		m.add(l, model.Exact, l.path)
		below += "/"
	}
	if owner := m.add(l, model.Prefix, below); owner != l {
		what := "this one is not served"
		if l.matched {
			what = "this one serves only " + l.path + " itself"
		}
		h.lose(l.pathClaim, owner, "%s has the paths below %s; %s", owner.before(l.pathClaim), below, what)
	}
}

// matchList collects matches, unique by kind and path.
type matchList struct {
	matches []model.Match
	taken   map[matchKey]*location
}

type matchKey struct {
	kind model.MatchKind
	path string
}

// add adds a match unless there is one already, and gives its owner.
func (m *matchList) add(l *location, kind model.MatchKind, path string) (owner *location) {
	key := matchKey{kind, path}
	if owner := m.taken[key]; owner != nil {
		return owner
	}
	m.taken[key] = l
	l.matched = true
	m.matches = append(m.matches, model.Match{Kind: kind, Path: path, Route: l.route})
	return l
}

// addSlash adds the redirect from "/foo" to "/foo/" that nginx does for a location that ends in "/", unless something serves "/foo" or the
// location is closed.
func (m *matchList) addSlash(l *location) {
	slashless, found := strings.CutSuffix(l.path, "/")
	if !found || slashless == "" || !l.matched || l.route.Closed != "" || m.taken[matchKey{model.Exact, slashless}] != nil {
		return
	}
	m.add(l, model.Exact, slashless)
	m.matches[len(m.matches)-1].Slash = true
}

// compareMatches puts Exact before Prefix, and among Prefix the longest first.
func compareMatches(a, b model.Match) int {
	if c := cmp.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	if a.Kind == model.Prefix && len(a.Path) != len(b.Path) {
		return cmp.Compare(len(b.Path), len(a.Path))
	}
	return cmp.Compare(a.Path, b.Path)
}

// regexMatches gives the matches of a host in regex mode: the longest path first, at equal lengths in descending order of bytes. Prefix paths
// that do not want the mode themselves are still split in two, which are then neighbours.
func (h *hostBuild) regexMatches() []model.Match {
	ordered := slices.Clone(h.result.locations)
	slices.SortStableFunc(ordered, func(a, b *location) int {
		return cmp.Or(cmp.Compare(len(b.path), len(a.path)), cmp.Compare(b.path, a.path))
	})
	m := &matchList{taken: map[matchKey]*location{}}
	for _, l := range ordered {
		below := l.path
		if !strings.HasSuffix(below, "/") {
			below += "/"
		}
		halves := []string{below, l.path}
		if l.exact || l.wantsRegex() || l.path == "/" {
			halves = halves[1:]
		} else if h.owned[pathKey{true, l.path}] != nil {
			halves = halves[:1]
		}
		var owner *location
		for _, text := range halves {
			owner = m.add(l, model.Regex, l.pattern(text))
		}
		if !l.matched {
			h.lose(l.pathClaim, owner, "%s has the same regular expression; this one is not served", owner.before(l.pathClaim))
		}
	}
	return m.matches
}

// pattern gives the expression for the text of a path. A path of somebody who did not ask for regex mode and that is no
// expression is taken literally.
func (l *location) pattern(text string) string {
	if l.stub != "" {
		return regexp.QuoteMeta(l.stub)
	}
	if l.wantsRegex() {
		return text
	}
	if _, err := value.Pattern(text); err != nil {
		return regexp.QuoteMeta(text)
	}
	return text
}
