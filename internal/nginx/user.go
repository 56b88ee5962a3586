// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
)

// worker is whom workers run as. The names are empty where there is nobody to be set: only root may change users.
type worker struct {
	user, group string
	uid, gid    int
}

// findWorker gives whom workers run as under a master of some user.
func findWorker(uid, gid int, wanted string) (worker, error) {
	if uid != 0 {
		if wanted != "" {
			return worker{}, fmt.Errorf("run nginx' workers as user %q: only root may change users, and this is user %d; leave --worker-user out", wanted, uid)
		}
		return worker{uid: uid, gid: gid}, nil
	}
	candidates := []string{"www-data", "nginx", "nobody"}
	if wanted != "" {
		candidates = []string{wanted}
	}
	for _, name := range candidates {
		if u, err := user.Lookup(name); err == nil {
			return newWorker(u)
		}
	}
	if wanted != "" {
		return worker{}, fmt.Errorf("run nginx' workers as user %q: there is no such user; correct --worker-user", wanted)
	}
	return worker{}, errors.New("find a user for nginx' workers: there is neither www-data nor nginx nor nobody; name one with --worker-user")
}

// newWorker looks the user's group up by its number: nginx would take one that is called like the user, and for nobody there is none.
func newWorker(u *user.User) (worker, error) {
	group, err := user.LookupGroupId(u.Gid)
	if err != nil {
		return worker{}, fmt.Errorf("run nginx' workers as user %q: %w", u.Username, err)
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return worker{}, fmt.Errorf("run nginx' workers as user %q: %w", u.Username, err)
	}
	return worker{u.Username, group.Name, uid, gid}, nil
}
