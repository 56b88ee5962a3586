// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// Drifted names the first field in which a gateway's entity is not what is wanted, or "". Fields that the wanted one leaves to Kong are not
// compared, nor those that Kong shows in another form than it is given.
func Drifted(e entity.Entity, record map[string]any) string {
	var want map[string]any
	if err := json.Unmarshal(entity.Encode(e, entity.Body, []string{}), &want); err != nil {
		panic(fmt.Sprintf("plan: body of %s is no JSON: %v", entity.Name(e), err))
	}
	for _, name := range unseen {
		delete(want, name)
	}
	for _, name := range sortedKeys(want) {
		got := record[name]
		if e.Kind() == entity.Targets && name == "target" {
			text, _ := got.(string)
			want[name], got = normal(e.Kind(), name, want[name].(string)), normal(e.Kind(), name, text)
		}
		if !alike(want[name], got) {
			return name
		}
	}
	return ""
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// alike compares what is wanted with what is there: of records the fields that are wanted, lists in any order.
func alike(want, got any) bool {
	switch w := want.(type) {
	case nil:
		return got == nil
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return len(w) == 0
		}
		for name, value := range w {
			if !alike(value, g[name]) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok {
			return len(w) == 0
		}
		return len(w) == len(g) && slices.Equal(texts(w), texts(g))
	}
	return want == got
}

// texts gives the elements as sorted JSON.
func texts(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		text, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("plan: %v came from JSON: %v", v, err))
		}
		out[i] = string(text)
	}
	slices.Sort(out)
	return out
}
