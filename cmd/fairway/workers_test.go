// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// workers gives what /proc says of the workers of a program's nginx.
func (p *program) workers(t *testing.T) []string {
	t.Helper()
	master := nginxPID(filepath.Join(p.dir, "run"))
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", master))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, pid := range strings.Fields(string(children)) {
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(status))
	}
	return list
}

// field gives a line of /proc/PID/status, its name left out.
func field(status, name string) string {
	for line := range strings.Lines(status) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}

// TestWorkersAreAnotherUser holds that what talks to clients has no rights: neither root's nor to the folder with the controller's sockets.
func TestWorkersAreAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may change users")
	}
	for _, name := range []string{"", "nobody"} {
		dir := needsNginx(t)
		var flags []string
		wanted := "www-data"
		if name != "" {
			flags, wanted = []string{"--worker-user", name}, name
		}
		account, err := user.Lookup(wanted)
		if err != nil {
			t.Fatal(err)
		}
		p := startProgram(t, dir, flags...)
		t.Cleanup(func() { _ = p.command.Process.Signal(syscall.SIGTERM) }) // ended already when all went well
		eventually(t, "ready", func() bool { status, _ := get(p.own, "", "/readyz"); return status == 200 })
		list := p.workers(t)
		if len(list) == 0 {
			t.Error("no workers")
		}
		for _, status := range list {
			if got := field(status, "Uid"); got != strings.Join([]string{account.Uid, account.Uid, account.Uid, account.Uid}, " ") {
				t.Errorf("a worker for %q runs as %s", wanted, got)
			}
			if got := field(status, "CapEff"); strings.Trim(got, "0") != "" {
				t.Errorf("a worker has the capabilities %s", got)
			}
		}
		info, err := os.Stat(filepath.Join(dir, "run", "admin"))
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder of the sockets is of user %d, mode %s", owner, info.Mode())
		}
		if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := p.command.Wait(); err != nil {
			t.Errorf("%v\n%s", err, p.log)
		}
	}
}
