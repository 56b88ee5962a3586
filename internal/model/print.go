// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"io"
	"strings"
)

func (k MatchKind) String() string { return [...]string{"exact", "prefix", "regex"}[k] }

func (p Protocol) String() string { return [...]string{"HTTP", "HTTPS", "GRPC", "GRPCS"}[p] }

// Print writes the short form of a model: a paragraph per host, then backends, server names and certificates. Policies show only
// where they differ from the settings, so that a line says what is special about its route. Problems are printed by
// PrintProblems.
func (m *Model) Print(w io.Writer) {
	for _, h := range m.Hosts {
		if h.Name == CatchAll && len(h.Matches) == 0 {
			continue
		}
		fmt.Fprintf(w, "host %s\n", h.Name)
		for _, match := range h.Matches {
			fmt.Fprintf(w, "  %s %s -> %s\n", match.Kind, match.Path, m.describe(match))
		}
	}
	if !m.DefaultBackend.IsZero() {
		fmt.Fprintf(w, "default backend %s\n", m.DefaultBackend)
	}
	for _, b := range m.Backends {
		fmt.Fprintf(w, "backend %s:", b.ID)
		for _, e := range b.Endpoints {
			fmt.Fprintf(w, " %s", e)
		}
		if len(b.Endpoints) == 0 {
			fmt.Fprint(w, " none")
		}
		fmt.Fprintln(w)
	}
	owners := map[CertificateID]Ref{}
	for _, c := range m.Certificates {
		owners[c.ID] = c.Owner
	}
	for _, s := range m.ServerNames {
		fmt.Fprintf(w, "tls %s:", s.Name)
		for _, id := range s.Certificates {
			fmt.Fprintf(w, " %s", owners[id])
		}
		if len(s.Certificates) == 0 {
			fmt.Fprint(w, " default certificate")
		}
		fmt.Fprintln(w)
	}
	for _, id := range m.DefaultCertificates {
		fmt.Fprintf(w, "default certificate %s\n", owners[id])
	}
}

func (m *Model) describe(match Match) string {
	r := match.Route
	words := []string{r.Backend.String()}
	if r.Backend.IsZero() {
		words[0] = "default backend"
	}
	if match.Slash {
		words[0] = "redirect to slash"
	}
	if r.Closed != "" {
		words = append(words, "closed: "+r.Closed+";")
	}
	words = append(words, r.Policy.differences(m.Settings.Route)...)
	for _, c := range r.Canaries {
		words = append(words, "canary("+c.String()+")")
	}
	return strings.Join(append(words, "["+r.Owner.Namespace+"/"+r.Owner.Name+"]"), " ")
}

// differences names each field of p that is not as in base.
func (p Policy) differences(base Policy) []string {
	var words []string
	say := func(differs bool, format string, args ...any) {
		if differs {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(p.Protocol != base.Protocol, "%s", p.Protocol)
	say(p.BodyLimit != base.BodyLimit, "body<=%d", p.BodyLimit)
	say(p.Timeouts.Connect != base.Timeouts.Connect, "connect=%s", p.Timeouts.Connect)
	say(p.Timeouts.Send != base.Timeouts.Send, "send=%s", p.Timeouts.Send)
	say(p.Timeouts.Read != base.Timeouts.Read, "read=%s", p.Timeouts.Read)
	if p.Rewrite != nil {
		say(true, "rewrite(%s => %s)", p.Rewrite.Pattern, p.Rewrite.Target)
	}
	say(p.Host != base.Host, "host=%s", p.Host)
	say(p.HTTPSRedirect, "to-https")
	say(p.KeepTrailingSlash != base.KeepTrailingSlash, "keep-slash=%v", p.KeepTrailingSlash)
	return words
}

// String gives backend and conditions in the order in which they are tried.
func (c Canary) String() string {
	words := []string{c.Backend.String()}
	switch {
	case c.Header != "" && c.HeaderValue != "":
		words = append(words, fmt.Sprintf("header %s=%s", c.Header, c.HeaderValue))
	case c.Header != "" && c.HeaderPattern != "":
		words = append(words, fmt.Sprintf("header %s~%s", c.Header, c.HeaderPattern))
	case c.Header != "":
		words = append(words, "header "+c.Header)
	}
	if c.Cookie != "" {
		words = append(words, "cookie "+c.Cookie)
	}
	return strings.Join(append(words, fmt.Sprintf("weight %d/%d", c.Weight, c.WeightTotal)), ", ")
}

// PrintProblems writes one line per problem: object, field, reason, message.
func PrintProblems(w io.Writer, problems []Problem) {
	for _, p := range problems {
		field := p.Field
		if field != "" {
			field = " " + field
		}
		fmt.Fprintf(w, "%s%s: %s: %s\n", p.Object, field, p.Reason, p.Message)
	}
}
