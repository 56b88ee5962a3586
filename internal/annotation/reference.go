// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteReference writes docs/annotations.md. Cases gives the test case of each key through real nginx, by its path in the repository.
func WriteReference(w io.Writer, cases map[string]string) {
	fmt.Fprint(w, referenceHead)
	writeTable(w, cases)
	writeOwnTable(w, cases)
	for _, group := range Groups() {
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n", group.Name, group.Doc)
		for _, key := range group.Keys {
			writeKey(w, key, cases[key.Name])
		}
	}
}

const referenceHead = `<!-- Made by internal/annotation. DO NOT EDIT: change the registry and run go test ./internal/annotation -update. -->

# Annotations

The predecessor's keys stand behind the prefix ` + "`" + DefaultPrefix + "/`" + `, or what --annotations-prefix says, and Fairway's own behind
` + "`" + OwnPrefix + "/`" + `. A value that does not parse becomes a
Problem of its Ingress and leaves the default in force, unless the table says that it closes the route: then every request is
answered with 503 until it is repaired. Refused means that the [admission webhook](admission.md) does not let such a value in; the other
ones it warns of. An empty value is an absent annotation, unless the text says otherwise. On a canary only the canary's keys count, and those of which the
text says so. A key that nobody knows is a Problem with the nearest name that somebody does.

Dynamic keys act by data: the next request obeys them, and nginx reads no configuration. A key with a shape costs one such reload when a
cluster uses its value for the first time.

Annotations with a risk above the setting [annotations-risk-level](settings.md#annotations-risk-level) close the routes of their Ingress, as do values with a word of
[annotation-value-word-blocklist](settings.md#annotation-value-word-blocklist), and are refused by the admission webhook.

`

// writeTable lists the predecessor's keys by name.
func writeTable(w io.Writer, cases map[string]string) {
	var keys []Key
	acting := 0
	for _, group := range Groups() {
		for _, key := range group.Keys {
			if key.Own {
				continue
			}
			keys = append(keys, key)
			if !key.NotYet {
				acting++
			}
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	fmt.Fprintf(w, "All %d annotations of ingress-nginx v1.15.1 are read and checked; %d act here:\n\n", len(keys), acting)
	fmt.Fprint(w, "| annotation | acts by | a bad value | case | difference |\n|---|---|---|---|---|\n")
	for _, key := range keys {
		path := cases[key.Name]
		fmt.Fprintf(w, "| [%s](#%s) | %s | %s | [%s](../%s) | %s |\n", key.Name, key.Name, key.acts(), key.badValue(), shortCase(path), path, key.Differs)
	}
}

// writeOwnTable lists the keys that the predecessor does not have, by name.
func writeOwnTable(w io.Writer, cases map[string]string) {
	fmt.Fprintf(w, "\nThe predecessor does not have these, which stand behind the prefix `%s/`; those with an effect on a service count on Services too:\n\n", OwnPrefix)
	fmt.Fprint(w, "| annotation | acts by | a bad value | effect on | case |\n|---|---|---|---|---|\n")
	var keys []Key
	for _, group := range Groups() {
		for _, key := range group.Keys {
			if key.Own {
				keys = append(keys, key)
			}
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	for _, key := range keys {
		path := cases[key.Name]
		fmt.Fprintf(w, "| [%s](#%s) | %s | %s | %s | [%s](../%s) |\n", key.Name, key.Name, key.acts(), key.badValue(), key.Scope, shortCase(path), path)
	}
}

// acts says in words what a key costs.
func (k Key) acts() string {
	switch {
	case k.NotYet:
		return "not yet"
	case k.Shape != "":
		return "shape: " + k.Shape
	}
	return "data"
}

// badValue says in a word what a bad value comes to.
func (k Key) badValue() string {
	now := "default"
	if k.Closes {
		now = "closes the route"
	}
	if k.Refused {
		now += ", refused"
	}
	return now
}

// shortCase gives "group/case" of the path of a case.
func shortCase(path string) string {
	path = strings.TrimSuffix(path, ".txtar")
	parts := strings.Split(path, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

func writeKey(w io.Writer, key Key, path string) {
	name := key.Name
	if key.Alias != "" {
		name += " (or " + key.Alias + ")"
	}
	fmt.Fprintf(w, "### %s\n\n%s\n\n", key.Name, key.Doc)
	fmt.Fprintf(w, "| annotation | value | default | setting | bad value | effect on | risk | source |\n|---|---|---|---|---|---|---|---|\n")
	setting := "–"
	if key.Setting != "" {
		setting = "[" + key.Setting + "](settings.md#" + key.Setting + ")"
	}
	fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s |\n\n", name, key.Type, cell(key.Default), setting, key.badValue(), key.Scope, key.Risk, key.Source)
	fmt.Fprintf(w, "```yaml\n%s: %q\n```\n\n", key.Full(), key.Example)
	if key.Shape != "" {
		fmt.Fprintf(w, "Shape: %s.\n\n", key.Shape)
	}
	if key.Differs != "" {
		fmt.Fprintf(w, "Differs from ingress-nginx: %s\n\n", key.Differs)
	}
	if path != "" {
		fmt.Fprintf(w, "Tested by [%s](../%s).\n\n", shortCase(path), path)
	}
}

// cell makes text fit into a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
