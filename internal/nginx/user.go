// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
)

// workerUser is whom workers run as under a master of some user, and the name to be set, empty where there is none to set: only root may
// change users.
func workerUser(uid, gid int, wanted string) (name string, workerUID, workerGID int, err error) {
	if uid != 0 {
		if wanted != "" {
			return "", 0, 0, fmt.Errorf("run nginx' workers as user %q: only root may change users, and this is user %d; leave --worker-user out", wanted, uid)
		}
		return "", uid, gid, nil
	}
	candidates := []string{"www-data", "nginx", "nobody"}
	if wanted != "" {
		candidates = []string{wanted}
	}
	for _, name := range candidates {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		workerUID, uidErr := strconv.Atoi(u.Uid)
		workerGID, gidErr := strconv.Atoi(u.Gid)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return "", 0, 0, fmt.Errorf("run nginx' workers as user %q: %w", name, err)
		}
		return u.Username, workerUID, workerGID, nil
	}
	if wanted != "" {
		return "", 0, 0, fmt.Errorf("run nginx' workers as user %q: there is no such user; correct --worker-user", wanted)
	}
	return "", 0, 0, errors.New("find a user for nginx' workers: there is neither www-data nor nginx nor nobody; name one with --worker-user")
}
