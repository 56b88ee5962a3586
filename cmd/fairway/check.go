// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fairway-ingress/fairway/internal/explain"
)

func newCheck() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:   "check -f DIR",
		Short: "List everything in manifests that can't be honoured",
		Long: `Check builds the model of a folder of manifests with the very functions of the controller and lists what is refused, shadowed or
unreadable, a line each: object, field, reason, what happens. What the admission webhook would not let in has a second line with its
answer. It asks neither a cluster nor DNS.

The exit status is 0 when there is nothing to say, 1 when there are problems, 2 when nothing could be checked.`,
		Example: `  fairway check -f deploy/ --watch-ingress-without-class
  kubectl get ingress,ingressclass,service,endpointslices,secret -A -o yaml | fairway check -f - -o json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := q.check(); err != nil {
				return err
			}
			if q.file == "" {
				return usageError{errors.New("say what to check: -f DIR, -f FILE or -f -")}
			}
			facts, err := q.load(c.InOrStdin())
			if err != nil {
				return err
			}
			if err := q.write(c.OutOrStdout(), checked(facts.Problems)); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "%d Ingresses, %d problems\n", len(facts.Accepted), len(facts.Problems))
			if len(facts.Problems) > 0 {
				return exitStatus(1)
			}
			return nil
		},
	}
	q.addFileFlags(c)
	c.Flags().Lookup("filename").Usage = "folder or file of manifests, or - for standard input"
	return c
}

// checked are problems with what the admission webhook says of them.
type checked explain.Problems

// Print writes a line per problem, and one per refusal.
func (l checked) Print(w io.Writer) {
	for _, p := range l {
		fmt.Fprintln(w, p)
		if p.Refusal != "" {
			fmt.Fprintln(w, "  refused by the admission webhook: "+p.Refusal)
		}
	}
}
