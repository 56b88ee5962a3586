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

const docsHead = "<!-- Made by cmd/fairway. DO NOT EDIT: change the command and run go test ./cmd/fairway -update. -->\n"

// newDocs prints the references of commands and flags, docs/commands.md and docs/flags.md.
func newDocs(root *cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: "docs", Short: "Print reference documentation in Markdown", Hidden: true}
	group(c,
		&cobra.Command{
			Use: "commands", Short: "Print docs/commands.md", Args: noArgs,
			Run: func(c *cobra.Command, _ []string) { printCommands(c.OutOrStdout(), root) },
		},
		&cobra.Command{
			Use: "flags", Short: "Print docs/flags.md", Args: noArgs,
			Run: func(c *cobra.Command, _ []string) { printFlagReference(c.OutOrStdout()) },
		},
	)
	return c
}

func printCommands(w io.Writer, root *cobra.Command) {
	fmt.Fprint(w, docsHead, "\n# Commands\n\nExit status: 0 when all went well, 1 when something failed or was found, 2 when the command line is wrong.\n")
	shared := (&classFlags{}).flags()
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		printCommand(w, c, shared)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	fmt.Fprint(w, "\n## fairway completion\n\nPrints a script that completes commands and flags, for bash, zsh, fish or PowerShell; `fairway completion bash --help` says how to load it.\n")
}

// printCommand writes the section of a command. Flags that several share are in docs/flags.md.
func printCommand(w io.Writer, c *cobra.Command, shared *pflag.FlagSet) {
	fmt.Fprintf(w, "\n## %s\n\n", c.CommandPath())
	if c.Long != "" {
		fmt.Fprintf(w, "%s\n", c.Long)
	} else {
		fmt.Fprintf(w, "%s.\n", c.Short)
	}
	if c.Runnable() && !c.HasSubCommands() {
		fmt.Fprintf(w, "\n    %s\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(w, "\n```\n%s\n```\n", strings.TrimRight(c.Example, "\n"))
	}
	if c.Name() == "controller" {
		fmt.Fprint(w, "\nIts flags are in [flags.md](flags.md).\n")
		return
	}
	own, shares := pflag.NewFlagSet("", pflag.ContinueOnError), false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case shared.Lookup(f.Name) != nil:
			shares = true
		case f.Name != "help" && f.Name != "version":
			own.AddFlag(f)
		}
	})
	printFlags(w, own)
	if shares {
		fmt.Fprint(w, "\nAnd the flags of [which objects count and what they mean](flags.md#which-objects-count-and-what-they-mean): give those of the controller.\n")
	}
}

func printFlagReference(w io.Writer) {
	fmt.Fprint(w, docsHead, "\n# Flags of `fairway controller`\n\n",
		"Names, defaults and meanings are those of ingress-nginx where it has the flag. Flags are written `--name=value` or `--name value`; booleans may stand alone.\n")
	for _, g := range (&controllerFlags{}).groups() {
		fmt.Fprintf(w, "\n## %s\n", g.title)
		printFlags(w, g.flags)
	}
	fmt.Fprint(w, environment)
}

func printFlags(w io.Writer, flags *pflag.FlagSet) {
	var rows strings.Builder
	hidden := false
	flags.VisitAll(func(f *pflag.Flag) {
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" && f.Shorthand != f.Name {
			name += ", `-" + f.Shorthand + "`"
		}
		if f.Shorthand == f.Name {
			name = "`-" + f.Name + "`, " + name
		}
		if f.Hidden {
			hidden = true
			fmt.Fprintf(&rows, "| %s | %s |\n", name, strings.TrimPrefix(f.Usage, "has no effect: "))
			return
		}
		value := f.DefValue
		switch {
		case f.Name == "runtime-dir":
			value = "`/run/fairway` where that is writable, else `$XDG_RUNTIME_DIR/fairway` or `/tmp/fairway-UID`"
		case value == "[]":
			value = ""
		case value != "":
			value = "`" + value + "`"
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", name, f.Value.Type(), value, f.Usage)
	})
	switch {
	case rows.Len() == 0:
	case hidden:
		fmt.Fprintf(w, "\nThey are taken, with any value, so that arguments can stay as they are. Each warns when it is given.\n\n| flag | why |\n|---|---|\n%s", rows.String())
	default:
		fmt.Fprintf(w, "\n| flag | type | default | meaning |\n|---|---|---|---|\n%s", rows.String())
	}
}

const environment = `
## Environment

| variable | meaning |
|---|---|
| ` + "`POD_NAME`, `POD_NAMESPACE`" + ` | the own pod, by the downward API: where the Lease is and who holds it, which pods are replicas, what Events about reloads name, labels of metrics, and the zone |
| ` + "`KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT`" + ` | the API server in a pod, when neither ` + "`--kubeconfig` nor `--apiserver-host`" + ` is given |
| ` + "`NGINX_BINARY`" + ` | the nginx program, when ` + "`--nginx-binary`" + ` is not given |
| ` + "`XDG_RUNTIME_DIR`" + ` | where ` + "`--runtime-dir`" + ` is by default, when ` + "`/run`" + ` is not writable |
| ` + "`LD_PRELOAD`" + ` | nothing of ours: the chart of ingress-nginx set it to an allocator of its image, which is not in this one |
`
