// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newDocs prints the reference of commands and flags, of which docs/commands.md is made.
func newDocs(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "docs", Short: "Print the reference of all commands in Markdown", Hidden: true, Args: cobra.NoArgs,
		Run: func(c *cobra.Command, _ []string) { printDocs(c.OutOrStdout(), root) },
	}
}

func printDocs(w io.Writer, root *cobra.Command) {
	fmt.Fprintln(w, "<!-- Made by `go test ./cmd/fairway -update`. DO NOT EDIT. -->\n\n# Commands")
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		fmt.Fprintf(w, "\n## %s\n\n", c.CommandPath())
		if c.Long != "" {
			fmt.Fprintf(w, "%s\n", c.Long)
		} else {
			fmt.Fprintf(w, "%s.\n", c.Short)
		}
		if c.Example != "" {
			fmt.Fprintf(w, "\n```\n%s\n```\n", strings.TrimRight(c.Example, "\n"))
		}
		printFlags(w, c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

func printFlags(w io.Writer, c *cobra.Command) {
	var rows []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		value := f.DefValue
		if f.Name == "runtime-dir" {
			value = "/run/fairway for root, else in the user's own runtime directory"
		} else if value != "" {
			value = "`" + value + "`"
		}
		rows = append(rows, fmt.Sprintf("| `--%s` | %s | %s | %s |\n", f.Name, f.Value.Type(), value, f.Usage))
	})
	if len(rows) > 0 {
		fmt.Fprintf(w, "\n| flag | type | default | meaning |\n|---|---|---|---|\n%s", strings.Join(rows, ""))
	}
}
