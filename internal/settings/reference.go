// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"io"
	"strings"
)

// WriteReference writes docs/settings.md.
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

const referenceHead = `<!-- Made by internal/settings. DO NOT EDIT: change the registry and run go test ./internal/settings -update. -->

# Settings

The keys of the ConfigMap that --configmap names. All values are text. A value that does not parse becomes a Problem of the ConfigMap and leaves the
default of its key in force. Settings marked with reload make nginx read its configuration again when they change.
`

func writeKey(w io.Writer, key Key) {
	reload := ""
	if key.Reload {
		reload = "yes"
	}
	fmt.Fprintf(w, "### %s\n\n%s\n\n| value | default | example | reload |\n|---|---|---|---|\n| %s | `%s` | `%s` | %s |\n\n",
		key.Name, key.Doc, key.Type, strings.ReplaceAll(key.Default, "|", "\\|"), strings.ReplaceAll(key.Example, "|", "\\|"), reload)
}

func writeNotYet(w io.Writer, group Group) {
	fmt.Fprintf(w, "| key | outcome |\n|---|---|\n")
	for _, key := range group.Keys {
		outcome := "ignored"
		if key.Closes {
			outcome = "every route is closed (503)"
		}
		fmt.Fprintf(w, "| `%s` | %s |\n", key.Name, outcome)
	}
}
