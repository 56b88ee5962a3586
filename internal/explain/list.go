// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Hosts are the virtual hosts of a model, for people and programs.
type Hosts []Host

// Host is one of them.
type Host struct {
	Name         string   `json:"name"`
	Certificates []string `json:"certificates,omitempty"`
	Ingresses    []string `json:"ingresses"` // the owners of its paths, sorted: "namespace/name"
	Paths        []Path   `json:"paths"`
}

// Path is one path of a host, in the order in which they are tried.
type Path struct {
	Kind    string   `json:"kind"`
	Path    string   `json:"path"`
	Owner   string   `json:"owner"`
	Backend string   `json:"backend,omitempty"` // empty for the default backend
	Closed  string   `json:"closed,omitempty"`
	Canary  []string `json:"canary,omitempty"` // backends
}

// ListHosts lists the hosts that have paths.
func (f *Facts) ListHosts() Hosts {
	list := Hosts{}
	for _, h := range f.Model.Hosts {
		if len(h.Matches) == 0 {
			continue
		}
		host := Host{Name: h.Name}
		if h.Name != model.CatchAll {
			host.Certificates = f.certificates(h.Name)
		}
		for _, m := range h.Matches {
			r := m.Route
			owner := r.Owner.Namespace + "/" + r.Owner.Name
			path := Path{Kind: m.Kind.String(), Path: m.Path, Owner: owner, Closed: r.Closed}
			if !r.Backend.IsZero() {
				path.Backend = r.Backend.String()
			}
			for _, c := range r.Canaries {
				path.Canary = append(path.Canary, c.Backend.String())
			}
			host.Paths = append(host.Paths, path)
			host.Ingresses = append(host.Ingresses, owner)
		}
		slices.Sort(host.Ingresses)
		host.Ingresses = slices.Compact(host.Ingresses)
		list = append(list, host)
	}
	return list
}

// Print writes a table.
func (l Hosts) Print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HOST\tPATHS\tCERTIFICATE\tINGRESSES")
	for _, h := range l {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", h.Name, len(h.Paths), orNone(h.Certificates), few(h.Ingresses))
	}
	_ = t.Flush() // as all prints here: the reader is gone
}

// Model is the short form of a model.
type Model struct {
	Hosts     Hosts     `json:"hosts"`
	Backends  Backends  `json:"backends"`
	Listeners Listeners `json:"listeners,omitempty"`

	model *model.Model
}

// ListModel lists hosts, backends and listeners; as text, the form that golden tests show.
func (f *Facts) ListModel() Model {
	return Model{f.ListHosts(), f.ListBackends(), f.ListListeners(), f.Model}
}

// Print writes the model's short form.
func (m Model) Print(w io.Writer) { m.model.Print(w) }

// few joins the first of a list.
func few(list []string) string {
	const most = 4
	if len(list) > most {
		return strings.Join(list[:most], ",") + fmt.Sprintf(" +%d", len(list)-most)
	}
	return orNone(list)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ",")
}
