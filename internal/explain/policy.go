// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Setting is one effect of annotations and settings on a route.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Default is the value that the settings give where this one is another, and empty otherwise.
	Default string `json:"default,omitempty"`
}

func (s Setting) String() string {
	text := s.Name + " " + s.Value
	if s.Default != "" {
		text += " (default " + s.Default + ")"
	}
	return text
}

// policyOf lists what a policy does; base is the policy of routes without annotations.
func policyOf(p, base model.Policy) []Setting {
	defaults := map[string]string{}
	for _, f := range base.Facts() {
		defaults[f.Name] = f.Value
	}
	var list []Setting
	for _, f := range p.Facts() {
		s := Setting{Name: f.Name, Value: f.Value}
		if usual, found := defaults[f.Name]; !found {
			s.Default = "none"
		} else if usual != f.Value {
			s.Default = usual
		}
		list = append(list, s)
	}
	return list
}

// rewritten gives the path that the backend gets.
func rewritten(r *model.Rewrite, path string) string {
	pattern, err := regexp.Compile("(?i)" + r.Pattern)
	if err != nil {
		return path
	}
	groups := pattern.FindStringSubmatch(path)
	if groups == nil {
		return path
	}
	var pairs []string
	for digit := range 10 {
		group := ""
		if digit < len(groups) {
			group = groups[digit]
		}
		pairs = append(pairs, fmt.Sprintf("$%d", digit), group)
	}
	clean, _ := normalize(strings.NewReplacer(pairs...).Replace(r.Target))
	return clean
}
