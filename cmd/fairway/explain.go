// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/explain"
)

func newExplain() *cobra.Command {
	c := &cobra.Command{
		Use:   "explain",
		Short: "Say which rule wins for a URL, what an Ingress does, or where a port leads",
		Long: `Explain asks a running controller on this machine, or, with -f, looks at manifests as the controller would.
It runs the reference of the matching that nginx does, not a copy of its rules.`,
		Example: "  fairway explain url https://shop.example.com/cart\n  fairway explain ingress shop/web\n  fairway explain port 5432",
	}
	group(c, newExplainURL(), newExplainIngress(), newExplainPort())
	return c
}

func newExplainURL() *cobra.Command {
	var q question
	var headers []string
	c := &cobra.Command{
		Use:   "url URL",
		Short: "Say what happens to a request: the rule that takes it, its backend, and the rules beside it",
		Long: `Url says which rule takes a request, which others would have and why they did not, where it goes, what is special on the way,
which certificate answers, and which problems have to do with it. A URL without a scheme counts as http.`,
		Example: `  fairway explain url https://shop.example.com/cart
  fairway explain url shop.example.com/cart -f deploy/
  fairway explain url shop.example.com/cart -H 'X-Canary: always' -H 'Cookie: beta=always'`,
		Args: exactly(1, "a URL"),
		RunE: func(c *cobra.Command, args []string) error {
			header, err := explain.ParseHeader(headers)
			if err != nil {
				return usageError{err}
			}
			return q.answer(c, controller.ExplainPath, url.Values{"url": args, "header": headers}, func(f *explain.Facts) (answer, error) {
				return f.ForURL(explain.Request{URL: args[0], Header: header})
			})
		},
	}
	c.Flags().StringArrayVarP(&headers, "header", "H", nil, "header of the request, 'Name: value', for canaries; may be repeated")
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
			query := url.Values{"namespace": {namespace}, "ingress": {name}}
			return q.answer(c, controller.ExplainPath, query, func(f *explain.Facts) (answer, error) { return f.ForIngress(namespace, name) })
		},
	}
	q.addFlags(c)
	return c
}

func newExplainPort() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:     "port NUMBER",
		Short:   "Say where the port of a TCP or UDP service leads, and what of its entry is refused and why",
		Example: "  fairway explain port 5432\n  fairway explain port 53 -f deploy/ --udp-services-configmap ingress/udp-services",
		Args:    exactly(1, "a port"),
		RunE: func(c *cobra.Command, args []string) error {
			return q.answer(c, controller.ExplainPath, url.Values{"port": args}, func(f *explain.Facts) (answer, error) { return f.ForPort(args[0]) })
		},
	}
	q.addFlags(c)
	return c
}
