// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Command fairway is the ingress controller and the tools around it. It reads flags, puts the parts together and runs them; everything else is
// in the packages under internal. Each subcommand has a file of its own here.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker (see the Makefile).
var version = ""

func main() { os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr)) }

// run gives the exit status: 0, 1 when something was found or failed, 2 for wrong usage.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if filepath.Base(args[0]) == waitShutdown {
		return 0
	}
	root := newRoot()
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(arguments(args))
	err := root.Execute()
	switch e := err.(type) {
	case nil:
		return 0
	case exitStatus:
		return int(e)
	case usageError:
		fmt.Fprintf(stderr, "Error: %s\n", e.error)
		return 2
	default:
		fmt.Fprintf(stderr, "Error: %s\n", err)
		return 1
	}
}

// exitStatus ends the program with a status and no further word.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a mistake on the command line.
type usageError struct{ error }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "fairway",
		Short: "Ingress controller for Kubernetes on nginx, without reloads",
		Long: `Fairway turns Ingress objects into live routes of an nginx that it starts and looks after.
Routes, endpoints and certificates reach nginx as data, so changes cost no reload.

It reads the same Ingresses, annotations, ConfigMap keys and flags as ingress-nginx.`,
		SilenceErrors: true, SilenceUsage: true,
		Version: buildVersion(),
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see `%s --help`", err, c.CommandPath())}
	})
	group(root, newController(), newCheck(), newExplain(), newGet(), newVersion(), newDocs(root))
	return root
}

// group gives a command that only stands above others its subcommands. Alone it prints its help.
func group(c *cobra.Command, subcommands ...*cobra.Command) {
	c.AddCommand(subcommands...)
	c.SuggestionsMinimumDistance = 2
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		text := fmt.Sprintf("unknown command %q", args[0])
		if similar := c.SuggestionsFor(args[0]); len(similar) > 0 {
			text += "; did you mean `" + c.CommandPath() + " " + similar[0] + "`?"
		}
		return usageError{errors.New(text)}
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%q is one argument too many; see `%s --help`", args[0], c.CommandPath())}
	}
	return nil
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{errors.New("give " + what + "; see `" + c.CommandPath() + " --help`")}
		}
		return nil
	}
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// buildRevision gives the commit that the program was built from, or nothing.
func buildRevision() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		Run: func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), "fairway", buildVersion()) },
	}
}
