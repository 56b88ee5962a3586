// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/annotation"
)

// FuzzCookiePath asks for the cookie paths of rules: always a path that can't end the attribute.
func FuzzCookiePath(f *testing.F) {
	f.Add("/a b;c", false)
	f.Add("/ä/%3b", true)
	f.Add(`/x/(.*)\`, true)
	f.Fuzz(func(t *testing.T, path string, regex bool) {
		if path == "" || checkPath(path) != "" {
			t.Skip()
		}
		p := &pathClaim{path: path, host: &hostClaim{claims: &claims{effect: &annotation.Effect{UseRegex: regex}}}}
		got := p.cookiePath()
		ends := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ';' }
		if !strings.HasPrefix(got, "/") || strings.ContainsFunc(got, ends) {
			t.Errorf("the cookie path of %q is %q", path, got)
		}
	})
}
