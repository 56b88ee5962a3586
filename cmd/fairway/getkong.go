// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/fairway-ingress/fairway/internal/controller"
)

// newGetKong asks a controller whose data plane is Kong.
func newGetKong() *cobra.Command {
	c := &cobra.Command{
		Use:     "kong",
		Short:   "Print what Kong Gateways are to hold, and what differs there",
		Long:    "Kong prints what a running controller with --data-plane=kong knows of its gateways. What is secret is not printed.",
		Example: "  fairway get kong state\n  fairway get kong diff",
	}
	group(c,
		newGetKongList("state", controller.KongStatePath, "Print the declarative configuration that the gateways are to hold"),
		newGetKongList("diff", controller.KongDiffPath, "Print what a full comparison with the gateways would change, and who would be told of what"),
	)
	return c
}

func newGetKongList(what, path, short string) *cobra.Command {
	var q question
	c := &cobra.Command{
		Use: what, Short: short, Example: "  fairway get kong " + what, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if q.output != "text" && q.output != "json" {
				return usageError{errors.New("--output can be text or json")}
			}
			return q.ask(c, path, nil)
		},
	}
	c.Flags().StringVarP(&q.output, "output", "o", "text", "text or json")
	c.Flags().StringVar(&q.runtimeDir, "runtime-dir", defaultRuntimeDir(), "runtime directory of the running controller")
	return c
}
