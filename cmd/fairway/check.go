// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairway-ingress/fairway/internal/model"
)

func newCheck() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:   "check -f DIR",
		Short: "List everything in manifests that can't be honoured",
		Long: `Check builds the model of a folder of manifests with the very functions of the controller and lists what is refused, shadowed or
unreadable, a line each: object, field, reason, what happens. It asks neither a cluster nor DNS.

The exit status is 0 when there is nothing to say, 1 when there are problems, 2 when the command line is wrong.`,
		Example: "  fairway check -f deploy/\n  kubectl get ingress,service,endpointslices,secret -A -o yaml | fairway check -f - -o json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := q.check(); err != nil {
				return err
			}
			if q.file == "" {
				return usageError{errors.New("say what to check: -f DIR, -f FILE or -f -")}
			}
			snapshot, result, err := q.load(c.InOrStdin())
			if err != nil {
				return err
			}
			problems := append(faultProblems(snapshot.Faults), result.Model.Problems...)
			if q.output == "json" {
				if problems == nil {
					problems = []model.Problem{}
				}
				if err := json.NewEncoder(c.OutOrStdout()).Encode(problems); err != nil {
					return err
				}
			} else {
				model.PrintProblems(c.OutOrStdout(), problems)
				fmt.Fprintf(c.ErrOrStderr(), "%d Ingresses, %d problems\n", len(result.Accepted), len(problems))
			}
			if len(problems) > 0 {
				return exitStatus(1)
			}
			return nil
		},
	}
	q.addFlags(c)
	return c
}
