// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var settingLine = regexp.MustCompile(`(?m)^([A-Za-z0-9-]+):`)

// requestCases finds the case of each key: the one through real nginx that is named for it, else the first that sets it, else a review of the admission webhook.
func requestCases(t *testing.T) map[string]string {
	const root = "../../"
	files, err := filepath.Glob(root + "test/e2e/http/testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	reviews, err := filepath.Glob(root + "internal/ingress/testdata/review/*/*.txtar")
	if err != nil || len(reviews) == 0 {
		t.Fatalf("no reviews: %v", err)
	}
	cases := map[string]string{}
	for _, file := range append(files, reviews...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(string(text), "\n-- settings.yaml --\n")
		if !found {
			continue
		}
		section, _, _ = strings.Cut(section, "\n-- ")
		for _, m := range settingLine.FindAllStringSubmatch(section, -1) {
			name, path := m[1], strings.TrimPrefix(file, root)
			named := strings.HasSuffix(file, "/settings/"+name+".txtar")
			if index[name] != nil && (cases[name] == "" || named) {
				cases[name] = path
			}
		}
	}
	return cases
}
