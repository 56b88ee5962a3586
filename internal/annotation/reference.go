// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"fmt"
	"io"
	"strings"
)

// WriteReference writes docs/annotations.md.
func WriteReference(w io.Writer) {
	fmt.Fprint(w, referenceHead)
	for _, group := range Groups() {
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n", group.Name, group.Doc)
		if group.Keys[0].NotYet {
			writeNotYet(w, group)
			continue
		}
		for _, key := range group.Keys {
			writeKey(w, key)
		}
	}
}

const referenceHead = `<!-- Made by internal/annotation. DO NOT EDIT: change the registry and run go test ./internal/annotation -update. -->

# Annotations

The keys stand behind the prefix ` + "`" + DefaultPrefix + "/`" + `, or what --annotations-prefix says. A value that does not parse becomes a
Problem of its Ingress, shown as an Event, and leaves the default in force, unless the text says that it closes the route: then every request is
answered with 503. An empty value is an absent annotation, but for controls that are not supported yet. On a canary only the canary's keys count.
`

func writeKey(w io.Writer, key Key) {
	fmt.Fprintf(w, "### %s\n\n%s", key.Name, key.Doc)
	if key.Alias != "" {
		fmt.Fprintf(w, " The name `%s` is looked at when this one is absent or empty.", key.Alias)
	}
	fmt.Fprint(w, "\n\n")
	fmt.Fprintf(w, "| value | default | setting | example | effect on | risk | source |\n|---|---|---|---|---|---|---|\n")
	setting := "–"
	if key.Setting != "" {
		setting = "[" + key.Setting + "](settings.md#" + key.Setting + ")"
	}
	fmt.Fprintf(w, "| %s | %s | %s | `%s` | %s | %s | %s |\n\n", key.Type, key.Default, setting, strings.ReplaceAll(key.Example, "|", "\\|"), key.Scope, key.Risk, key.Source)
}

func writeNotYet(w io.Writer, group Group) {
	fmt.Fprintf(w, "| key | without it | harmless values | risk |\n|---|---|---|---|\n")
	for _, key := range group.Keys {
		name, outcome := "`"+key.Name+"`", "ignored"
		if key.Alias != "" {
			name += ", `" + key.Alias + "`"
		}
		if key.Closes {
			outcome = "the routes are closed (503)"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", name, outcome, strings.Join(key.Harmless, ", "), key.Risk)
	}
}
