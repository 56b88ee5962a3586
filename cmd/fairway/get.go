// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fairway-ingress/fairway/internal/model"
)

func newGet() *cobra.Command {
	c := &cobra.Command{Use: "get", Short: "Print what a controller knows"}
	c.AddCommand(newGetModel(), newGetProblems())
	return c
}

func newGetModel() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:     "model",
		Short:   "Print hosts, routes, backends and certificates in short form",
		Example: "  fairway get model\n  fairway get model -f deploy/",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if q.file == "" {
				return q.ask(c.Context(), c.OutOrStdout(), "/model", nil)
			}
			_, result, err := q.load(c.InOrStdin())
			if err != nil {
				return err
			}
			result.Model.Print(c.OutOrStdout())
			return nil
		},
	}
	q.addFlags(c)
	return c
}

func newGetProblems() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:     "problems",
		Short:   "Print what can't be honoured: object, field, reason, what happens",
		Example: "  fairway get problems -o json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := q.check(); err != nil {
				return err
			}
			if q.file == "" {
				return q.ask(c.Context(), c.OutOrStdout(), "/problems", nil)
			}
			snapshot, result, err := q.load(c.InOrStdin())
			if err != nil {
				return err
			}
			problems := slices.Concat(faultProblems(snapshot.Faults), result.Model.Problems)
			if q.output == "json" {
				return json.NewEncoder(c.OutOrStdout()).Encode(problems)
			}
			model.PrintProblems(c.OutOrStdout(), problems)
			return nil
		},
	}
	q.addFlags(c)
	return c
}
