// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestArgv(t *testing.T) {
	file := filepath.Join(t.TempDir(), "images.yaml")
	if err := os.WriteFile(file, []byte(`
- {match: "fixed",   exec: ["/bin/sh", "--fixed"], ignoreArgs: true}
- {match: "passed",  exec: ["${BIN}/sh"], args: ["--default"]}
- {match: "missing", exec: ["/no/such/program"]}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	images, err := loadImages("/bin", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, image   string
		command, args []string
		want          []string
	}{
		{"its own arguments only", "example.test/fixed:1", []string{"a"}, []string{"b"}, []string{"/bin/sh", "--fixed"}},
		{"default arguments", "passed", nil, nil, []string{"/bin/sh", "--default"}},
		{"declared arguments", "passed", nil, []string{"b"}, []string{"/bin/sh", "b"}},
		{"the image's program is ours", "passed", []string{"a", "b"}, []string{"c"}, []string{"/bin/sh", "b", "c"}},
		{"the machine's program", "busybox:1", []string{"a"}, []string{"b"}, []string{"a", "b"}},
		{"a machine image without a command", "debian", nil, nil, []string{"sleep", "infinity"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := images.lookup(c.image).argv(&corev1.Container{Command: c.command, Args: c.args}, func(s string) string { return s })
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if !images.lookup("example.test/fake:1").Fake || images.lookup("fakery").Fake {
		t.Error("just the image named fake has no process")
	}
	if got := images.lookup("missing"); slices.Contains(got.Exec, "/no/such/program") {
		t.Error("an entry whose program is missing is passed over")
	}
}

func TestImagesRefuseWhatTheyDoNotKnow(t *testing.T) {
	for _, text := range []string{`- {match: "a", exce: [b]}`, `- {match: "("}`} {
		file := filepath.Join(t.TempDir(), "images.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadImages("/bin", file); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
