// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestIdentity(t *testing.T) {
	const rest = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20"
	for in, want := range map[string]string{
		"12 (cluster) S" + rest:    "12 4711",
		"12 (a) b) (c) R" + rest:   "12 4711", // names may contain anything
		"12 (cluster) Z" + rest:    "",        // it has ended and waits for its parent
		"12 (cluster) S 1 2":       "",
		"":                         "",
		"12 (no end of the name S": "",
	} {
		if got := parseIdentity(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if identity(os.Getpid()) == "" {
		t.Error("this process has no identity")
	}
}

func TestPidIgnoresAnotherProcessOfThatID(t *testing.T) {
	o := &options{dir: t.TempDir()}
	write := func(text string) {
		if err := os.WriteFile(o.file(pidFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(identity(os.Getpid()))
	if o.pid() != os.Getpid() {
		t.Error("the supervisor is not found")
	}
	write(identity(os.Getpid()) + "0") // the same id, started at another time
	if o.pid() != 0 {
		t.Error("another process is taken for the supervisor")
	}
}

func TestContextEndsWithOwner(t *testing.T) {
	owner := exec.Command("sleep", "600")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, err := untilOwnerEnds(context.Background(), owner.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Error("ended early")
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it was killed, so this says so
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the owner's end went unnoticed")
	}
	if !errors.Is(context.Cause(ctx), errOwnerEnded) {
		t.Errorf("cause %v", context.Cause(ctx))
	}
	if _, err := untilOwnerEnds(context.Background(), owner.Process.Pid); err == nil {
		t.Error("an owner that is gone is accepted")
	}
}

// A directory that is removed with the cluster must not hold anything of others.
func TestRemoveDirWantsAnEmptyOne(t *testing.T) {
	o := &options{dir: t.TempDir(), removeDir: true}
	if err := o.prepareDir(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(o.file("mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := o.prepareDir(); err == nil {
		t.Error("a directory with files of others is accepted")
	}
}
