// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

const (
	prefix       = "konghq.com/"
	legacyPrefix = "configuration.konghq.com/" // until 0.10
	// legacyPlugins and legacyOverride are spellings of konghq.com/plugins and konghq.com/override of those days.
	legacyPlugins  = "plugins.konghq.com"
	legacyOverride = "configuration.konghq.com"
	// legacyPlugin ends annotations that named a plugin and its object, until 0.2.
	legacyPlugin = ".plugin.konghq.com"
)

// notes are the annotations of one object that count here.
type notes struct {
	*run
	object model.Ref
	values map[string]string // by name without the prefix
	keys   map[string]string // how each is spelt in the object
}

// readNotes reads the annotations of an object, reports outdated spellings, and keys that are none of those known.
func (r *run) readNotes(object model.Ref, o metav1.Object, known map[string]bool) *notes {
	n := &notes{run: r, object: object, values: map[string]string{}, keys: map[string]string{}}
	annotations := o.GetAnnotations()
	for _, full := range slices.Sorted(maps.Keys(annotations)) {
		name, current := strings.CutPrefix(full, prefix)
		if !current {
			if name = n.legacy(full); name == "" {
				continue
			}
			if _, beside := annotations[prefix+name]; beside {
				continue
			}
		}
		if !known[name] && !strings.HasPrefix(name, "headers.") {
			r.tellUnknown(object, full, name, known)
			continue
		}
		n.values[name], n.keys[name] = annotations[full], full
	}
	return n
}

// legacy gives the name of a key that is spelt as it was long ago, and reports it.
func (n *notes) legacy(full string) string {
	name, old := strings.CutPrefix(full, legacyPrefix)
	switch {
	case full == legacyPlugins:
		name = "plugins"
	case full == legacyOverride:
		name = "override"
	case strings.HasSuffix(full, legacyPlugin):
		n.problem(n.object, field(full), model.ReasonUnsupported, "the annotation has no effect any more; name a KongPlugin in %splugins", prefix)
		return ""
	case !old:
		return ""
	}
	n.problem(n.object, field(full), model.ReasonDeprecated, "the annotation is outdated and still works; write %s%s", prefix, name)
	return name
}

func (r *run) tellUnknown(object model.Ref, full, name string, known map[string]bool) {
	hint := ""
	if near := value.Nearest(name, maps.Keys(known)); near != "" {
		hint = "; is " + prefix + near + " meant?"
	}
	r.problem(object, field(full), model.ReasonUnknownAnnotation, "no annotation of that name has an effect on this kind of object%s", hint)
}

func field(annotation string) string { return "metadata.annotations[" + annotation + "]" }

// field gives the place of a key in the object.
func (n *notes) field(name string) string { return field(cmp.Or(n.keys[name], prefix+name)) }

// invalid reports the value of a key.
func (n *notes) invalid(name, consequence string, err error) {
	message := fmt.Sprintf("the value %.60q %v; %s", n.values[name], err, consequence)
	n.refuse(fmt.Sprintf("the value %.60q %v", n.values[name], err), n.object, n.field(name), model.ReasonInvalidAnnotation, "%s", message)
}

// list reads a list with commas between.
func list(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// tags reads the tags that an object wants on its entities.
func (n *notes) tags() []string {
	text, written := n.values["tags"]
	if !written {
		return nil
	}
	var kept []string
	for _, tag := range list(text) {
		if why := checkTag(tag); why != "" {
			n.invalid("tags", "that tag is left out", errors.New(why))
			continue
		}
		kept = append(kept, tag)
	}
	return kept
}

func checkTag(tag string) string {
	switch {
	case len(tag) > 128:
		return "has a tag of more than 128 bytes"
	case strings.Contains(tag, "/"):
		return "has a tag with /"
	case strings.ContainsFunc(tag, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' }):
		return "has a tag with control characters"
	}
	return ""
}
