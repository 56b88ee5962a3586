// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairway-ingress/fairway/internal/explain"
	"github.com/fairway-ingress/fairway/internal/model"
)

func newExplain() *cobra.Command {
	c := &cobra.Command{
		Use:   "explain",
		Short: "Say which rule wins for a URL, or what an Ingress does",
	}
	c.AddCommand(newExplainURL(), newExplainIngress())
	return c
}

func newExplainURL() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:     "url URL",
		Short:   "Say what happens to a request: the rule that takes it, its backend, and the rules beside it",
		Example: "  fairway explain url https://shop.example.com/cart\n  fairway explain url shop.example.com/cart -f deploy/",
		Args:    exactly(1, "a URL"),
		RunE: func(c *cobra.Command, args []string) error {
			return q.answer(c, "/explain/url", url.Values{"url": args}, func(m *model.Model) (printer, error) { return explain.ForURL(m, args[0]) })
		},
	}
	q.addFlags(c)
	return c
}

func newExplainIngress() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:     "ingress NAMESPACE/NAME",
		Short:   "Say what an Ingress does: its routes, where they lead, and what of it is refused and why",
		Example: "  fairway explain ingress shop/web\n  fairway explain ingress shop/web -f deploy/ -o json",
		Args:    exactly(1, "NAMESPACE/NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			namespace, name, found := strings.Cut(args[0], "/")
			if !found {
				namespace, name = "default", args[0]
			}
			return q.answer(c, "/explain/ingress", url.Values{"namespace": {namespace}, "name": {name}}, func(m *model.Model) (printer, error) {
				return explain.ForIngress(m, namespace, name)
			})
		},
	}
	q.addFlags(c)
	return c
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{errors.New("give " + what + "; see `" + c.CommandPath() + " --help`")}
		}
		return nil
	}
}

// printer is an explanation.
type printer interface{ Print(io.Writer) }

// answer asks a running controller, or explains manifests.
func (q *question) answer(c *cobra.Command, path string, query url.Values, explain func(*model.Model) (printer, error)) error {
	if err := q.check(); err != nil {
		return err
	}
	if q.file == "" {
		return q.ask(c.Context(), c.OutOrStdout(), path, query)
	}
	_, result, err := q.load(c.InOrStdin())
	if err != nil {
		return err
	}
	e, err := explain(result.Model)
	if err != nil {
		return err
	}
	if q.output == "json" {
		return json.NewEncoder(c.OutOrStdout()).Encode(e)
	}
	e.Print(c.OutOrStdout())
	return nil
}
