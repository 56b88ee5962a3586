// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"io"
	"strings"
)

func (k MatchKind) String() string { return [...]string{"exact", "prefix", "regex"}[k] }

func (p Protocol) String() string {
	return [...]string{"HTTP", "HTTPS", "GRPC", "GRPCS", "FCGI", "AUTO_HTTP"}[p]
}

// Print writes the short form of a model: a paragraph per host, then listeners, backends, server names and certificates. Policies show only
// where they differ from the settings, so that a line says what is special about its route. Problems are printed by
// PrintProblems.
func (m *Model) Print(w io.Writer) {
	for _, h := range m.Hosts {
		if h.Name == CatchAll && len(h.Matches) == 0 {
			continue
		}
		fmt.Fprintf(w, "host %s%s\n", h.Name, h.describe())
		for _, match := range h.Matches {
			fmt.Fprintf(w, "  %s %s -> %s\n", match.Kind, match.Path, m.describe(match))
		}
	}
	if !m.DefaultBackend.IsZero() {
		fmt.Fprintf(w, "default backend %s\n", m.DefaultBackend)
	}
	for _, l := range m.Listeners {
		fmt.Fprintf(w, "%s%s -> ", l.Name(), l.Traits())
		l.Backend.print(w)
	}
	for _, b := range m.Backends {
		fmt.Fprint(w, "backend ")
		b.print(w)
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

func (b *Backend) print(w io.Writer) {
	fmt.Fprintf(w, "%s:", b.ID)
	for _, e := range b.Endpoints {
		fmt.Fprintf(w, " %s", e.Describe())
	}
	if len(b.Endpoints) == 0 {
		fmt.Fprint(w, " none")
	}
	b.printState(w)
	fmt.Fprintln(w)
}

// printState says what is special about a backend's endpoints.
func (b *Backend) printState(w io.Writer) {
	for _, e := range b.Draining {
		fmt.Fprintf(w, " draining %s", e.Describe())
	}
	for _, e := range b.Unhealthy {
		fmt.Fprintf(w, " unhealthy %s", e.Describe())
	}
	if b.SlowStart > 0 {
		fmt.Fprintf(w, " {slow start=%s}", b.SlowStart)
	}
	if b.Health == nil {
		return
	}
	if c := b.Health.Check; c != nil {
		fmt.Fprintf(w, " {check=%s}", c)
	}
	if o := b.Health.Outlier; o != nil {
		fmt.Fprintf(w, " {outlier=%s}", o)
	}
}

// describe says what is special about a host.
func (h *Host) describe() string {
	f := &facts{}
	f.when(len(h.Aliases) > 0, "aliases", "%s", strings.Join(h.Aliases, " "))
	for _, p := range h.Patterns {
		f.always("pattern", "%s", p)
	}
	f.when(h.AppRoot != "", "app root", "%s", h.AppRoot)
	f.when(h.RedirectTo != "", "redirect to", "%s", h.RedirectTo)
	f.when(h.Closed != "", "closed", "%s", h.Closed)
	if h.TLS != nil {
		f.always("TLS", "%s", h.TLS)
	}
	if p := h.Passthrough; p != nil && p.Backend.IsZero() {
		f.always("TLS passthrough", "nowhere")
	} else if p != nil {
		f.always("TLS passthrough", "%s", p.Backend)
	}
	f.when(h.Snippet != "", "snippet", "%d bytes", len(h.Snippet))
	var out strings.Builder
	for _, one := range *f {
		fmt.Fprintf(&out, " {%s}", one)
	}
	return out.String()
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
	for _, f := range r.Policy.Differences(m.Settings.Route) {
		words = append(words, "{"+f.String()+"}")
	}
	for _, c := range r.Canaries {
		words = append(words, "canary("+c.String()+")")
	}
	return strings.Join(append(words, "["+r.Owner.Namespace+"/"+r.Owner.Name+"]"), " ")
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
	words = append(words, fmt.Sprintf("weight %d/%d", c.Weight, c.WeightTotal))
	if c.Balance != nil {
		words = append(words, c.Balance.String())
	}
	return strings.Join(words, ", ")
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
