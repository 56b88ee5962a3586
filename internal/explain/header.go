// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"net/http"
	"strings"
)

// ParseHeader reads lines "Name: value".
func ParseHeader(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !found || name == "" {
			return nil, fmt.Errorf("header %q: write Name: value", line)
		}
		header.Add(name, strings.TrimSpace(value))
	}
	return header, nil
}
