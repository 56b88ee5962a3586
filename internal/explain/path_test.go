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
	for _, c := range []struct{ path, want string }{{"/..", "/"}, {"/a/../..", "/"}, {"/../a", "/a"}} {
		if got, below := normalize(c.path); below || got != c.want {
			t.Errorf("normalize(%q) = %q, %v, want %q above the root", c.path, got, below, c.want)
		}
	}
}
