// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// Template is a template of nginx.conf that the admin wrote. It gets what the built-in one gets and may use, or define anew, the parts of that.
type Template struct{ parsed *template.Template }

// ParseTemplate reads a template. The error names the line.
func ParseTemplate(text string) (*Template, error) {
	parts, err := tmpl.Clone()
	if err != nil {
		return nil, err
	}
	parsed, err := parts.New("template").Parse(text)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" || parsed.Tree == nil {
		return nil, fmt.Errorf("the template is empty")
	}
	return &Template{parsed}, nil
}

// render gives a text that nginx refuses, with the reason, when the template cannot be filled in.
func (t *Template) render(data map[string]any) string {
	var out bytes.Buffer
	if err := t.parsed.Execute(&out, data); err != nil {
		return fmt.Sprintf("the_template_fails %s;\n", quote(err.Error()))
	}
	return out.String()
}
