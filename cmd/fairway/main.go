// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Command fairway is the ingress controller and the tools around it. It reads flags, puts the parts together and runs them; everything else is
// in the packages under internal. Each subcommand has a file of its own here.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker (see the Makefile).
var version = ""

func main() { os.Exit(run(os.Args)) }

// run gives the exit status: 0, 1 when something was found or failed, 2 for wrong usage.
func run(args []string) int {
	root := newRoot()
	// The predecessor's image calls its program by this name, with the controller's flags and no subcommand.
	if filepath.Base(args[0]) == "nginx-ingress-controller" {
		args = append([]string{args[0], "controller"}, args[1:]...)
	}
	root.SetArgs(args[1:])
	err := root.Execute()
	switch e := err.(type) {
	case nil:
		return 0
	case exitStatus:
		return int(e)
	case usageError:
		fmt.Fprintf(os.Stderr, "Error: %s\n", e.error)
		return 2
	default:
		fmt.Fprintf(os.Stderr, "Error: %s\n", err)
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
	root.AddCommand(newController(), newCheck(), newExplain(), newGet(), newVersion(), newDocs(root))
	return root
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

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		Run: func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), "fairway", buildVersion()) },
	}
}
