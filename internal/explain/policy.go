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
	list := []Setting{
		{"protocol", p.Protocol.String(), base.Protocol.String()},
		{"body limit", size(p.BodyLimit), size(base.BodyLimit)},
		{"connect timeout", p.Timeouts.Connect.String(), base.Timeouts.Connect.String()},
		{"send timeout", p.Timeouts.Send.String(), base.Timeouts.Send.String()},
		{"read timeout", p.Timeouts.Read.String(), base.Timeouts.Read.String()},
		{"host header", named(p.Host, "the client's"), named(base.Host, "the client's")},
		{"rewrite", rewriteText(p.Rewrite), rewriteText(base.Rewrite)},
	}
	for i := range list {
		if list[i].Default == list[i].Value {
			list[i].Default = ""
		}
	}
	if p.HTTPSRedirect {
		list = append(list, Setting{Name: "redirect to HTTPS", Value: "yes"})
	}
	return list
}

func named(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func rewriteText(r *model.Rewrite) string {
	if r == nil {
		return "none"
	}
	return r.Pattern + " => " + r.Target
}

// size prints bytes as nginx and the annotations write them.
func size(bytes int64) string {
	switch {
	case bytes == 0:
		return "none"
	case bytes%(1<<30) == 0:
		return fmt.Sprintf("%dg", bytes>>30)
	case bytes%(1<<20) == 0:
		return fmt.Sprintf("%dm", bytes>>20)
	case bytes%(1<<10) == 0:
		return fmt.Sprintf("%dk", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
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
