// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/explain"
)

func newGet() *cobra.Command {
	c := &cobra.Command{
		Use:     "get",
		Short:   "Print what a controller knows",
		Long:    "Get prints what a running controller on this machine knows, or, with -f, what it would make of manifests.",
		Example: "  fairway get hosts\n  fairway get problems -f deploy/ -o json",
	}
	group(c,
		newGetList("model", controller.ModelPath, "Print hosts, routes, backends and certificates in short form",
			func(f *explain.Facts) answer { return f.ListModel() }),
		newGetList("hosts", controller.HostsPath, "Print a line per host: paths, certificate, Ingresses",
			func(f *explain.Facts) answer { return f.ListHosts() }),
		newGetList("backends", controller.BackendsPath, "Print a line per backend: endpoints, how many paths lead to it, and which endpoints are not well",
			func(f *explain.Facts) answer { return f.ListBackends() }),
		newGetList("listeners", controller.ListenersPath, "Print a line per port of a TCP or UDP service: where it leads",
			func(f *explain.Facts) answer { return f.ListListeners() }),
		newGetList("problems", controller.ProblemsPath, "Print what can't be honoured: object, field, reason, what happens, since when",
			func(f *explain.Facts) answer { return f.Problems }),
		newGetKong(),
	)
	return c
}

func newGetList(what, path, short string, list func(*explain.Facts) answer) *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:     what,
		Short:   short,
		Example: "  fairway get " + what + "\n  fairway get " + what + " -f deploy/ -o json",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return q.answer(c, path, nil, func(f *explain.Facts) (answer, error) { return list(f), nil })
		},
	}
	q.addFlags(c)
	return c
}
