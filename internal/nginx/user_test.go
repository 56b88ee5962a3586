// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"strings"
	"testing"
)

func TestFindWorker(t *testing.T) {
	for _, c := range []struct {
		title  string
		uid    int
		wanted string
		name   string
		group  string
		own    bool // the user of the master
		fails  string
	}{
		{"root, by default", 0, "", "www-data", "www-data", false, ""},
		{"root, by name", 0, "nobody", "nobody", "nogroup", false, ""},
		{"root, an unknown name", 0, "no-such-user", "", "", false, "correct --worker-user"},
		{"another user", 1234, "", "", "", true, ""},
		{"another user, by name", 1234, "nobody", "", "", false, "leave --worker-user out"},
	} {
		w, err := findWorker(c.uid, 77, c.wanted)
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, want %q", c.title, err, c.fails)
			}
		case err != nil:
			t.Errorf("%s: %v", c.title, err)
		case w.user != c.name || w.group != c.group || c.own != (w.uid == c.uid) || c.own != (w.gid == 77):
			t.Errorf("%s: %+v", c.title, w)
		}
	}
}
