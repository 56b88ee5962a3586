// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import "testing"

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"", "/"}, {"/", "/"}, {"//", "/"}, {"/a", "/a"}, {"/a/", "/a/"}, {"/a//b", "/a/b"}, {"/a/.", "/a/"}, {"/./a", "/a"},
		{"/a/..", "/"}, {"/a/b/..", "/a/"}, {"/a/../b", "/b"}, {"/a/...", "/a/..."}, {"/.a", "/.a"},
	} {
		if got, ok := normalize(c.path); !ok || got != c.want {
			t.Errorf("normalize(%q) = %q, %v, want %q", c.path, got, ok, c.want)
		}
	}
	for _, path := range []string{"/..", "/a/../..", "/../a"} {
		if got, ok := normalize(path); ok {
			t.Errorf("normalize(%q) = %q, want a refusal", path, got)
		}
	}
}
