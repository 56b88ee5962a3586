// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/fairway-ingress/fairway/internal/controller"
)

// newGetKong asks a controller whose data plane is Kong.
func newGetKong() *cobra.Command {
	c := &cobra.Command{
		Use:   "kong",
		Short: "Print what Kong Gateways are to hold, and what differs there",
		Long: `Kong prints what a running controller with --data-plane=kong knows of its gateways. Every replica can be asked, whoever leads.
Nothing is changed at the gateways, and nothing that is secret is printed.`,
		Example: "  fairway get kong state\n  fairway get kong diff",
	}
	group(c, newGetKongState(), newGetKongDiff())
	return c
}

func newGetKongState() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:   "state",
		Short: "Print the declarative configuration that the gateways are to hold",
		Long: `State prints what the objects of the cluster come to, as the declarative configuration of the first gateway, in JSON. Gateways of another
version, or with other plugins, may be given another form of it. What gateways refuse is in it: see ` + "`fairway get kong diff`" + `.

Keys, passwords, and what plugins read from Secrets, are shown as [redacted].

The status is 0, 1 when no controller or no gateway answers, 2 for wrong usage.`,
		Example: "  fairway get kong state\n  kubectl exec deploy/fairway -- fairway get kong state > state.json",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return q.askKong(c, controller.KongStatePath) },
	}
	q.addKongFlags(c)
	return c
}

func newGetKongDiff() *cobra.Command {
	var q question
	var exitCode bool
	c := &cobra.Command{
		Use:   "diff",
		Short: "Print what a full comparison with the gateways would change, entity by entity",
		Long: `Diff reads all that the gateways hold and prints a line for each entity that would be created, updated or deleted, with the fields
that differ. Values are printed where they are no secrets. Lines begin with the gateway where each has a configuration of its own, which is so
without a database.
What a gateway refuses is told with its reason; it is not tried again until it is changed.

The status is 0 when the gateways could be compared. With --exit-code it is 1 when something would change, and 2 when they could not be
compared; without it 1 stands for the latter. It is 2 for wrong usage.`,
		Example: `  fairway get kong diff
  fairway get kong diff --exit-code > /dev/null || echo "the gateways are not in step"
  fairway get kong diff -o json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			err := q.askKong(c, controller.KongDiffPath)
			switch {
			case !exitCode:
				return err
			case err != nil:
				return usageError{err} // for its status
			case q.header.Get(controller.KongChangesHeader) != "0":
				return exitStatus(1)
			}
			return nil
		},
	}
	q.addKongFlags(c)
	c.Flags().BoolVar(&exitCode, "exit-code", false, "end with status 1 when something would change, and with 2 when that is not known")
	return c
}

func (q *question) addKongFlags(c *cobra.Command) {
	c.Flags().StringVarP(&q.output, "output", "o", "text", "text or json")
	c.Flags().StringVar(&q.runtimeDir, "runtime-dir", defaultRuntimeDir(), "runtime directory of the running controller")
}

// errNoKong is for controllers with another data plane.
var errNoKong = errors.New("the controller does not drive Kong Gateways: it runs without --data-plane=kong")

func (q *question) askKong(c *cobra.Command, path string) error {
	if q.output != "text" && q.output != "json" {
		return usageError{fmt.Errorf("--output is %q; it can be text or json", q.output)}
	}
	err := q.ask(c, path, nil)
	if err != nil && q.status == http.StatusNotFound {
		return errNoKong
	}
	return err
}
