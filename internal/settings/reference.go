// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteReference writes docs/settings.md. Cases gives the test case of keys through real nginx, by its path in the repository, or another test in words; live are the keys that act in
// the predecessor, and there are total known ones.
func WriteReference(w io.Writer, cases map[string]string, live map[string]bool, total int) {
	fmt.Fprint(w, referenceHead)
	writeTable(w, cases, live, total)
	for _, group := range Groups() {
		if len(group.Keys) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n", group.Name, group.Doc)
		switch {
		case group.Keys[0].Instead != "":
			writeDropped(w, group)
		default:
			for _, key := range group.Keys {
				writeKey(w, key, cases[key.Name])
			}
		}
	}
}

const referenceHead = `<!-- Made by internal/settings. DO NOT EDIT: change the registry and run go test ./internal/settings -update. -->

# Settings

The keys of the ConfigMap that --configmap names. All values are text. A value that does not parse becomes a Problem of the ConfigMap and leaves the
default of its key in force, unless the table says that it closes all routes: then every request is answered with 503 until it is repaired.

Settings that act by data are obeyed by the next request, and nginx reads no configuration. The others make nginx read its configuration again, once for each
change of the ConfigMap, and never when the value is what was in force. nginx tests settings before they are used: when it refuses what they
lead to, a Problem says why, and the settings before stay in force. ` + "`test/e2e/http`" + ` checks for every key that the table says the truth.

`

// writeTable lists all keys by name.
func writeTable(w io.Writer, cases map[string]string, live map[string]bool, total int) {
	var keys []Key
	acting := 0
	for _, group := range Groups() {
		for _, key := range group.Keys {
			keys = append(keys, key)
			if live[key.Name] && key.acts() {
				acting++
			}
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	fmt.Fprintf(w, "%d of the %d keys that act in ingress-nginx v1.15.1 act here. All %d that its code or its documentation name are known:\n\n", acting, len(live), total)
	fmt.Fprint(w, "| setting | acts by | a bad value | case | difference |\n|---|---|---|---|---|\n")
	for _, key := range keys {
		path, name := "–", key.Name
		if key.acts() && cases[key.Name] != "" {
			path = linkCase(cases[key.Name])
		}
		if key.Instead == "" {
			name = "[" + name + "](#" + name + ")"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", name, key.actsBy(), key.badValue(), path, key.Differs)
	}
}

// acts tells whether the key has the effect that it is for.
func (k Key) acts() bool { return k.Instead == "" && !k.NotYet && k.Lacks == "" }

func (k Key) actsBy() string {
	switch {
	case k.Instead != "":
		return "nothing"
	case !k.acts():
		return "not yet"
	case k.Reload:
		return "reload"
	}
	return "data"
}

// badValue says in a word what a bad value comes to.
func (k Key) badValue() string {
	switch {
	case k.Instead != "":
		return "–"
	case k.Closes:
		return "closes all routes"
	}
	return "default"
}

// linkCase gives a link to a case; what is no case stands as it is.
func linkCase(path string) string {
	if !strings.HasSuffix(path, ".txtar") {
		return path
	}
	return fmt.Sprintf("[%s](../%s)", shortCase(path), path)
}

// shortCase gives "group/case" of the path of a case.
func shortCase(path string) string {
	parts := strings.Split(strings.TrimSuffix(path, ".txtar"), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

func writeKey(w io.Writer, key Key, path string) {
	fmt.Fprintf(w, "### %s\n\n%s\n\n| value | default | example | acts by |\n|---|---|---|---|\n| %s | %s | %s | %s |\n\n",
		key.Name, key.Doc, cell(key.Type), code(key.Default), code(key.Example), key.actsBy())
	if key.With != "" {
		fmt.Fprintf(w, "Only together with [%s](#%s).\n\n", key.With, key.With)
	}
	if key.Differs != "" {
		fmt.Fprintf(w, "Differs from ingress-nginx: %s\n\n", key.Differs)
	}
	if strings.HasSuffix(path, ".txtar") {
		fmt.Fprintf(w, "Tested by %s.\n\n", linkCase(path))
	}
}

func writeDropped(w io.Writer, group Group) {
	fmt.Fprintf(w, "| key | what to do |\n|---|---|\n")
	for _, key := range group.Keys {
		fmt.Fprintf(w, "| `%s` | %s |\n", key.Name, key.Instead)
	}
}

func code(text string) string { return "`" + cell(text) + "`" }

// cell makes text fit into a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
